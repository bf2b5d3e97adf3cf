"""What every trial runs in: a limit of time and memory, and a line of JSON for whatever goes wrong."""

from __future__ import annotations

import json
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable

import numpy as np

MEMORY = 1024  # MB that a trial may take, and 100 times its file


class SlowError(BaseException):
    """More time than a trial has."""


def tell(**facts) -> None:
    print(json.dumps(facts), flush=True)


def guarded(
    number: int, kind: str, action: Callable, sentences: tuple, limit: float = 5, size: int = 0, wall: float = 0
) -> None:
    """Do something within a limit of seconds; what ends otherwise than well or in a sentence is told.

    ``limit`` is of this process, as others may keep the machine busy; ``wall``, where it is not 0, of the clock: who
    waits for ever takes no time of the processor.
    """
    tell(at=number)
    signal.signal(signal.SIGPROF, _slow)
    signal.signal(signal.SIGALRM, _slow)
    signal.setitimer(signal.ITIMER_PROF, limit)
    signal.setitimer(signal.ITIMER_REAL, wall)
    try:
        action()
    except sentences as error:
        if not str(error).strip().endswith((".", ")", "?", "!")):
            tell(number=number, kind=kind, error=f"no sentence: {type(error).__name__}: {error}"[:300])
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"[:300]
        tell(
            number=number,
            kind=kind,
            error=said,
            where=traceback.format_exc()[-3000 if isinstance(error, SlowError) else -600 :],
        )
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    if memory() > MEMORY + 100 * size / 2**20:
        tell(number=number, kind=kind, error=f"{memory()} MB of memory")
        sys.exit(1)  # the most that a process has taken never falls again


def _slow(number, frame):
    raise SlowError(f"{signal.Signals(number).name} in {frame.f_code.co_qualname}")


def memory() -> int:
    """The most that this process has taken, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def part(run: Callable[[int, int], bool]) -> None:
    """``python -m benchmarks.torture.PART FIRST LAST``, a process that may be lost; ``run`` says whether it was all."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    over = run(int(sys.argv[1]), int(sys.argv[2]))
    tell(memory=memory(), all=bool(over))
