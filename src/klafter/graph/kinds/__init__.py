"""Kinds of nodes: which pairs could be linked, and how files and other libraries say so."""
