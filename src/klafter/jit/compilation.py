"""What a user notices of kernels that compile: a message, and Ctrl-C that waits for the end of one."""

import logging
import signal
import threading
import time
from contextlib import contextmanager, suppress

from numba.core import event

log = logging.getLogger("klafter")


class _Compiling(event.Listener):
    """Starts a timer when something is compiled; what is loaded from disk does not count."""

    def __init__(self, timer: threading.Timer) -> None:
        self.timer = timer
        self.begun = False

    def on_start(self, event: event.Event) -> None:
        if not self.begun:
            self.begun = True
            self.timer.start()

    def on_end(self, event: event.Event) -> None:
        pass


class CompileClock(event.Listener):
    """Seconds in which something was being compiled, by any thread; a compilation inside another counts once."""

    def __init__(self) -> None:
        self._lock, self._depth, self._since, self._spent = threading.Lock(), 0, 0.0, 0.0

    def on_start(self, event: event.Event) -> None:
        with self._lock:
            if self._depth == 0:
                self._since = time.perf_counter()
            self._depth += 1

    def on_end(self, event: event.Event) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._spent += time.perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """Until now, a compilation under way among them."""
        with self._lock:
            return self._spent + (time.perf_counter() - self._since if self._depth else 0.0)


@contextmanager
def compile_clock():
    """A clock that runs while something is compiled."""
    clock = CompileClock()
    with event.install_listener("numba:compile", clock):
        yield clock


@contextmanager
def announce_compilation(seconds: float = 1.5):
    """Say so when compilation takes long: it is done once, for all later runs."""
    text = "Compiling for first use; this happens once and takes a while."
    timer = threading.Timer(seconds, log.warning, [text], {"extra": {"passing": True}})
    timer.daemon = True
    with event.install_listener("numba:compile", _Compiling(timer)):
        try:
            yield
        finally:
            timer.cancel()


@contextmanager
def interrupts_wait():
    """Ctrl-C is handled at the end: inside LLVM and its callbacks it is lost or crashes. Asked twice, at once."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    received: list[tuple] = []

    def note(number, frame):
        received.append((number, frame))
        if len(received) > 1:
            with suppress(KeyboardInterrupt):
                before(*received[0])
            before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if len(received) == 1:
            before(*received[0])
