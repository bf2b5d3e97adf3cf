"""What kernels and their structs are where ``NUMBA_DISABLE_JIT`` asks for plain Python."""

from typing import Any

from numba import config

PLAIN = bool(vars(config)["DISABLE_JIT"])


def unless_plain(decorator):
    """A decorator of kernels that leaves functions as they are in plain Python."""
    return (lambda function: function) if PLAIN else decorator


def define_plain(proxy: Any, fields: list[str]) -> None:
    """Make ``proxy(*fields)`` an ordinary object with these attributes."""

    def set_fields(self, *values):
        for name, value in zip(fields, values, strict=True):
            setattr(self, name, value)

    proxy.__new__ = lambda cls, *values: object.__new__(cls)
    proxy.__init__ = set_fields
