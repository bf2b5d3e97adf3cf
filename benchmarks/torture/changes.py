"""Bytes changed at random: flipped, cut out, repeated, replaced by what has hurt before, also inside archives."""

from __future__ import annotations

import io
import random
import re
import struct
import zipfile

WORDS = (
    b"0", b"-1", b"999999999999", b"1e999", b"-1e-320", b"nan", b"inf", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"',
    b"\n", b"\r", b"\t", b",", b"'", b";", b"%", b"#", b"*Vertices 9999999", b"*Matrix\n", b"<!ENTITY a 'b'>",
    b"[" * 2000, b" " * 5000,
    b"]", b"}", b"=1+1", "é\u202e".encode(), b"\xed\xa0\x80", b"\xff\xff\xff\x7f", b"\0\0\0\x80",
)  # fmt: skip

NUMBERS = (b"0", b"1", b"2", b"3", b"7", b"-1", b"0.5", b"1e308", b"4294967296", b"99999999999999999999", b"1e-5")
WHOLE = (0, 1, 2, 5, 33, 34, 1000, -1, -5, 2**31 - 1, -(2**31), 2**40, 2**62)


def changed(data: bytes, rng: random.Random) -> bytes:
    """The bytes with a few changes, one more often than six."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        rng.choices(CHANGES, (4, 2, 2, 2, 2, 1, 4, 2))[0](found, rng.randrange(len(found) + 1), rng)
    return bytes(found)


def _flip(found: bytearray, place: int, rng: random.Random) -> None:
    if found:
        found[place % len(found)] = rng.randrange(256)


def _cut(found: bytearray, place: int, rng: random.Random) -> None:
    del found[place : place + rng.randint(1, 30)]


def _insert(found: bytearray, place: int, rng: random.Random) -> None:
    found[place:place] = rng.choice(WORDS)


def _repeat(found: bytearray, place: int, rng: random.Random) -> None:
    found[place:place] = found[place : place + rng.randint(1, 200)]


def _overwrite(found: bytearray, place: int, rng: random.Random) -> None:
    word = rng.choice(WORDS)
    found[place : place + len(word)] = word


def _end(found: bytearray, place: int, rng: random.Random) -> None:
    del found[max(1, place) :]


def _renumber(found: bytearray, place: int, rng: random.Random) -> None:
    """Another number where one is written in digits."""
    number = re.compile(rb"[0-9.]+").search(found, place)
    if number:
        found[number.start() : number.end()] = rng.choice(NUMBERS)


def _rebinary(found: bytearray, place: int, rng: random.Random) -> None:
    """Another whole number where four or eight bytes may hold one."""
    size = rng.choice((4, 8))
    place -= place % 4
    if place + size <= len(found):
        found[place : place + size] = struct.pack("<q", rng.choice(WHOLE))[:size]


CHANGES = (_flip, _cut, _insert, _repeat, _overwrite, _end, _renumber, _rebinary)


def changed_inside(data: bytes, rng: random.Random) -> bytes:
    """An archive of which one member is changed and all checksums are right, so that readers see the change."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    members[name] = changed(members[name], rng)
    if rng.random() < 0.1:
        del members[rng.choice(sorted(members))]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return file.getvalue()
