"""Children of a process that has loaded everything: they begin at once, so that signals meet the work itself."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

PATIENCE = 120.0  # seconds after which a child hangs


def forked(action: Callable[[], object], folder: Path, after: float | None = None, number: int = signal.SIGKILL):
    """Run something in a child that gets a signal after some seconds; its exit code, what it said, and its seconds.

    The code is negative for a signal that ended it. What it says goes to ``said`` in the folder.
    """
    begun, said = time.perf_counter(), folder / "said"
    child = os.fork()
    if child == 0:
        _be_child(action, said)
    if after is not None:
        _has_ended(child, after)
        os.kill(child, number)  # one that has ended still waits to be heard
    if not _has_ended(child, PATIENCE):
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = said.read_text(errors="replace") if said.exists() else ""
    said.unlink(missing_ok=True)
    return code, text, time.perf_counter() - begun


def _be_child(action: Callable[[], object], said: Path) -> None:
    code = 1
    try:
        handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        action()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _has_ended(child: int, seconds: float) -> bool:
    """Whether a child ends within some seconds."""
    limit = time.perf_counter() + seconds
    while time.perf_counter() < limit:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return True
        time.sleep(0.001)
    return False
