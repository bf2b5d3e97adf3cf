"""What a fit will take, told before it takes it: memory that the machine lacks is refused, long fits say how long.

Times are those of one core of a machine of 2024, measured on planted networks (``benchmarks/costs.py``); they grow with
communities, whose number nobody knows beforehand, so that a fit may well take twice as long, or half.
"""

from __future__ import annotations

import logging
import os

from klafter.models.checks import check_memory

log = logging.getLogger("klafter")
LONG = 600.0  # seconds from which on a fit says how long it takes
HUGE = 2.0**31  # bytes from which on it says how much memory
UNITS = (("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0))


def announce(what: str, seconds: float, n_bytes: float, cure: str) -> None:
    """Refuse what memory cannot hold; say what takes long, or much of it."""
    check_memory(n_bytes, what, cure)
    memory = f" and {n_bytes / 2**30:,.0f} GB of memory" if n_bytes >= HUGE else ""
    if seconds >= LONG or memory:
        log.warning("%s will take about %s%s. %s", what, duration(seconds), memory, cure)


def duration(seconds: float) -> str:
    """Words for a time that nobody knows exactly.

    Examples
    --------
    >>> duration(20), duration(90), duration(6_000), duration(400_000)
    ('a minute', '2 minutes', '1.7 hours', '4.6 days')
    """
    if seconds < 90:
        return "a minute"
    name, unit = next(((name, unit) for name, unit in UNITS if seconds >= 1.5 * unit), UNITS[-1])
    value = seconds / unit
    return f"{value:.0f} {name}s" if name == "minute" or value >= 10 else f"{value:.1f} {name}s"


def workers(n_jobs: int | None, n_tasks: int) -> int:
    """How many of some tasks run side by side."""
    cores = os.cpu_count() or 1
    wanted = 1 if n_jobs is None else max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs
    return max(1, min(wanted, n_tasks, cores))
