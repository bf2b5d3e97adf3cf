"""Words inside blocks of bytes, numbered in bulk: millions of names without a Python object for each.

A word is summed up by two 64-bit hashes of its 8-byte pieces; words are the same if both hashes are. Sorting one hash
is several times faster than asking a dictionary, which misses the cache at every word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_MASK = np.array([(1 << 8 * k) - 1 for k in range(9)], np.uint64)
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_SHIFT = np.uint64(32)

# constants of short_integers; the tables go by the length of a word
_ZERO, _SIX, _HIGH = (np.uint64(int(byte * 8, 16)) for byte in ("30", "06", "F0"))
_PAIR, _LEFT, _RIGHT = np.uint64(0x000000FF000000FF), np.uint64(0x000F424000000064), np.uint64(0x0000271000000001)
_MOVE = np.array([0, 56, 48, 40, 32, 24, 16, 8, 0], np.uint64)
_ZEROS = np.array([int("30" * 8, 16) & ((1 << 8 * (8 - k)) - 1) for k in range(9)], np.uint64)
_LEAST = np.array([0, 0, *(10**k for k in range(1, 8))], np.uint64)


class Words(NamedTuple):
    """Words are ``data[start:start + length]``."""

    data: bytes
    start: np.ndarray  # int64
    length: np.ndarray  # int64

    def take(self, which: np.ndarray | slice) -> Words:
        return Words(self.data, self.start[which], self.length[which])

    def word(self, i: int) -> bytes:
        return self.data[self.start[i] : self.start[i] + self.length[i]]


def as_words(names: Sequence[bytes]) -> Words:
    """A list of names, one behind the other."""
    length = np.fromiter(map(len, names), np.int64, len(names))
    return Words(b"".join(names), np.cumsum(length) - length, length)


def number_words(blocks: list[Words]) -> tuple[list[bytes], np.ndarray]:
    """The different words in order of appearance, and the number of each word.

    Examples
    --------
    >>> number_words([as_words([b"bob", b"ann", b"bob"]), as_words([b"ann", b"eve"])])
    ([b'bob', b'ann', b'eve'], array([0, 1, 0, 1, 2]))
    """
    key, check = _keys(blocks)
    first, number = _group(key)
    if not np.array_equal(check, check[first][number]):
        return _number_slowly(blocks)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return _pick(blocks, first[order]), rank[number]


def number_integers(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The different numbers, sorted, and the place of each number among them.

    Examples
    --------
    >>> number_integers([np.array([7, 3]), np.array([3, 5])])
    (array([3, 5, 7]), array([2, 0, 0, 1]))
    """
    numbers = np.concatenate([np.zeros(0, np.int64), *(part.astype(np.int64, copy=False) for part in parts)])
    if numbers.max(initial=0) >= 4 * len(numbers) + 1000:
        return np.unique(numbers, return_inverse=True)
    present = np.zeros(int(numbers.max(initial=-1)) + 1, bool)
    present[numbers] = True
    if present.all():
        return np.arange(len(present)), numbers
    return np.flatnonzero(present), (np.cumsum(present) - 1)[numbers]


def _keys(blocks: list[Words]) -> tuple[np.ndarray, np.ndarray]:
    """What stands for each word: its own value if all are short integers, else two hashes."""
    values = [value for words in blocks if (value := short_integers(words)) is not None]
    if len(values) == len(blocks):
        key = np.concatenate(values)
        return key, key
    hashes = [_hash(words) for words in blocks]
    return np.concatenate([one for one, _ in hashes]), np.concatenate([two for _, two in hashes])


def _group(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First position of each different key, and for each position which key it has."""
    if not len(key):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if key.max() < 4 * len(key) + 1000:
        return _group_by_table(key)
    order = np.argsort(key)
    ordered = key[order]
    is_new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    number = np.empty(len(key), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return np.minimum.reduceat(order, np.flatnonzero(is_new)), number


def _group_by_table(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for small keys, without sorting."""
    present = np.zeros(int(key.max()) + 1, bool)
    present[key] = True
    number = (np.cumsum(present) - 1)[key]
    first = np.empty(int(present.sum()), np.int64)
    # of several writes to one place the last one stays
    first[number[::-1]] = np.arange(len(key))[::-1]
    return first, number


def _pieces(words: Words) -> np.ndarray:
    """The eight bytes that begin at each byte of the data, as one integer."""
    data = words.data + bytes(8)
    return np.ndarray((len(data) - 7,), "<u8", buffer=data, strides=(1,))


def short_integers(words: Words) -> np.ndarray | None:
    """The values of words that are plain integers of at most eight digits; None if some word is not.

    Eight digits are read at once: neighbours are joined to pairs, pairs to fours, fours to the number.
    """
    if not len(words.length):
        return np.zeros(0, np.uint64)
    if not 1 <= words.length.min() <= words.length.max() <= 8:
        return None
    x = (_pieces(words)[words.start] << _MOVE[words.length]) | _ZEROS[words.length]
    if ((x & _HIGH) != _ZERO).any() or (((x + _SIX) & _HIGH) != _ZERO).any():
        return None
    x = x - _ZERO
    x = x * np.uint64(10) + (x >> np.uint64(8))
    x = ((x & _PAIR) * _LEFT + ((x >> np.uint64(16)) & _PAIR) * _RIGHT) >> np.uint64(32)
    return None if (x < _LEAST[words.length]).any() else x


def _hash(words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Two hashes of each word: sums over its pieces, each stirred with a factor for its place."""
    pieces = _pieces(words)
    sums = words.length.astype(np.uint64) * _FACTORS[0], words.length.astype(np.uint64) * _FACTORS[1]
    place, rest = 1, np.arange(len(words.length))
    while len(rest):
        start, left = words.start[rest] + 8 * (place - 1), words.length[rest] - 8 * (place - 1)
        piece = pieces[start] & _MASK[np.minimum(left, 8)]
        for total, factor in zip(sums, _FACTORS):
            total[rest] += _stir((piece + np.uint64(place)) * factor, factor)
        rest, place = rest[left > 8], place + 1
    return sums


def _stir(x: NDArray[np.uint64], factor: np.uint64) -> NDArray[np.uint64]:
    """Spread every bit over all of them."""
    x = (x ^ (x >> _SHIFT)) * factor
    x = (x ^ (x >> np.uint64(29))) * factor
    return x ^ (x >> _SHIFT)


def _pick(blocks: list[Words], positions: np.ndarray) -> list[bytes]:
    """The words at positions counted through all blocks."""
    ends = np.cumsum([len(words.start) for words in blocks])
    block = np.searchsorted(ends, positions, side="right")
    starts = np.concatenate([[0], ends[:-1]])
    return [blocks[b].word(i) for b, i in zip(block.tolist(), (positions - starts[block]).tolist())]


def _number_slowly(blocks: list[Words]) -> tuple[list[bytes], np.ndarray]:
    """The same with a dictionary, should two words ever have the same first hash."""
    number: dict[bytes, int] = {}
    codes = [number.setdefault(words.word(i), len(number)) for words in blocks for i in range(len(words.start))]
    return list(number), np.array(codes, np.int64)
