"""``klafter tune``, ``compare`` and ``reproduce``: how good models are."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
