"""The engines behind ``KLafter``: which one a graph needs, and how each is run."""
