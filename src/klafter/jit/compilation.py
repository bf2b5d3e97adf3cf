"""A message to the user while kernels compile."""

import gc
import logging
import threading
from contextlib import contextmanager

from numba.core import event

log = logging.getLogger("klafter")

SELDOM = 100_000  # new objects before garbage is looked for: at Python's 700 that is a twentieth of compilation


class _Compiling(event.Listener):
    """Starts a timer when something is compiled, and lets garbage lie; what is loaded from disk does not count."""

    def __init__(self, timer: threading.Timer) -> None:
        self.timer = timer
        self.begun = False

    def on_start(self, event: event.Event) -> None:
        if not self.begun:
            self.begun = True
            self.timer.start()
            if (often := gc.get_threshold())[0]:
                gc.set_threshold(SELDOM, *often[1:])

    def on_end(self, event: event.Event) -> None:
        pass


@contextmanager
def announce_compilation(seconds: float = 1.5):
    """Say so when compilation takes long: it is done once, for all later runs."""
    timer = threading.Timer(seconds, log.warning, ["Compiling for first use; this happens once and takes a while."])
    timer.daemon = True
    often = gc.get_threshold()
    with event.install_listener("numba:compile", _Compiling(timer)):
        try:
            yield
        finally:
            timer.cancel()
            gc.set_threshold(*often)
