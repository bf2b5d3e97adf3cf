"""Ctrl-C, remembered: a fit catches it and returns the best so far, so whoever needs a whole fit has to ask here."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


class Interrupt:
    """A context in which ``happened`` says whether Ctrl-C was pressed; one inside another tells the outer one too."""

    def __init__(self, happened: bool = False) -> None:
        self.happened = happened

    def __enter__(self) -> Interrupt:
        self._before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        if callable(self._before):
            self._before(number, frame)
        raise KeyboardInterrupt

    def ends(self, callback: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
        """The callback, which also ends a fit after a Ctrl-C that Python swallowed, as it does in destructors."""
        return lambda progress: (callback is not None and callback(progress)) or self.happened

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)
