"""The command line: parse, call, print."""

import os
import signal
import sys

# SciPy, scikit-learn and joblib import these at their top; commands seldom need them, and they are half of the
# time it takes to start
SELDOM = (
    *("scipy.stats", "scipy.spatial", "sklearn.neighbors"),
    *("pandas", "pydoc", "asyncio", "narwhals", "narwhals.stable", "narwhals.stable.v2"),
)


RECEIVED: list[int] = []  # signals that ask to end
_starting = True


def main() -> None:
    """The entry point of ``klafter``."""
    global _starting
    signal.signal(signal.SIGINT, _hear)
    signal.signal(signal.SIGTERM, _terminate)
    from klafter.cli.later import postpone

    postpone(*SELDOM)
    from klafter.cli.app import app

    _starting = False
    try:
        app(prog_name="klafter")
    except KeyboardInterrupt:
        _leave(RECEIVED[0] if RECEIVED else signal.SIGINT)
    finally:
        _starting = True  # nothing is left to be ended in order
        if RECEIVED:  # Python itself would end by SIGINT where Ctrl-C met code of ``exec``
            sys.stdout.flush()
            os._exit(128 + RECEIVED[0])


def _hear(number: int, frame: object) -> None:
    """Ctrl-C: the command ends in order and keeps what it has. Before it has begun, or asked twice, it leaves at once.

    No file is harmed by that, see ``klafter.graph.writing``.
    """
    RECEIVED.append(number)
    if _starting or len(RECEIVED) > 1:
        _leave(number)
    raise KeyboardInterrupt


def _leave(number: int) -> None:
    os.write(2, b"\nklafter: Interrupted.\n")
    os._exit(128 + number)


def _terminate(number: int, frame: object) -> None:
    """SIGTERM is heard by whoever hears Ctrl-C at the moment."""
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(number, frame)  # type: ignore[arg-type]
