"""What a path leads to, in words: whether it can be read like a file, or why not."""

from __future__ import annotations

import errno
import os
import stat

KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def kind_of(mode: int) -> str:
    """What is no ordinary file."""
    return next((name for test, name in KINDS if test(mode)), "no ordinary file")


def no_file(path: str | os.PathLike[str]) -> str | None:
    """What stands at a path instead of an ordinary file, None if one does; "" if nothing does.

    Examples
    --------
    >>> no_file("/dev/null"), no_file("."), no_file("nowhere")
    ('a device', 'a folder', '')
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            return f"a symbolic link to {os.readlink(path)}, where nothing is"
        return ""
    except OSError as error:
        circle = "a symbolic link that leads in a circle"
        return circle if error.errno == errno.ELOOP else f"out of reach ({error.strerror})"
    return None if stat.S_ISREG(mode) else kind_of(mode)
