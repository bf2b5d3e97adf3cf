"""In which encoding bytes are that are no UTF-8: the one whose letters make words of one language."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

_CYRILLIC = "".join(map(chr, range(0x430, 0x460))) + "ґ"
_GREEK = "".join(map(chr, range(0x3B1, 0x3CA))) + "άέήίόύώϊϋΐΰ"
# letters beside ASCII; where two encodings fit as well, the first is taken
_ALPHABETS = (
    ("cp1252", "äöüß"),
    ("cp1252", "àâçéèêëîïôœùûüÿ"),
    ("cp1252", "áéíñóúüàèòïç"),
    ("cp1252", "àèéìíîòóù"),
    ("cp1252", "åäöæøéü"),
    ("cp1250", "áéíóöőúüű"),
    ("cp1252", "áâãàçéêíóôõúü"),
    ("cp1250", "ąćęłńóśźż"),
    ("cp1250", "áčďéěíňóřšťúůýž"),
    ("cp1250", "áäčďéíĺľňóôŕšťúýž"),
    ("cp1250", "čćđšž"),
    ("cp1254", "çğıöşüâîû\u0307"),  # İ in lower case is i with a dot of its own
    ("cp1250", "ăâîşţ"),
    ("cp1252", "áéíóúýþæöð"),
    ("cp1257", "ąčęėįšųūž"),
    ("cp1257", "āčēģīķļņšūž"),
    ("cp1257", "äõöüšž"),
    ("cp1255", "".join(map(chr, range(0x5D0, 0x5EB)))),
    ("cp1251", _CYRILLIC),
    ("koi8-r", _CYRILLIC),
    ("cp1253", _GREEK),
    ("cp1256", "".join(map(chr, range(0x621, 0x64B))) + "پچژگ"),
    ("mac_roman", "àâçéèêëîïôœùûüÿ"),
    ("mac_roman", "äöüß"),
    ("mac_roman", "áéíñóúü"),
    ("cp850", "àâçéèêëîïôùûüÿ"),
    ("cp850", "äöüß"),
)
_PUNCTUATION = "„“”‘’‚–—…€«»°·´`¨"
_WORD = re.compile(r"(?:[0-9A-Za-z]|[^\x00-\x7f])+")
_SAMPLE = 1 << 16
_ENOUGH = 0.5  # of the words must fit
_WORDS = 2  # speak for an encoding that is seldom


def _lead(character: str, encoding: str) -> int:
    """The first byte of a character, 0 if the encoding does not have it."""
    try:
        return character.encode(encoding)[0]
    except UnicodeEncodeError:
        return 0


def _is_kana(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff"


# two bytes a character: which ones are common says in which of these encodings a text is
_WIDE: dict[str, Callable[[str], bool]] = {
    "cp932": lambda c: _is_kana(c) or 0x88 <= _lead(c, "cp932") <= 0x98,
    "cp949": lambda c: 0xB0 <= _lead(c, "euc_kr") <= 0xC8,
    "euc_jp": lambda c: _is_kana(c) or 0xB0 <= _lead(c, "euc_jp") <= 0xCF,
    "gb18030": lambda c: 0xB0 <= _lead(c, "gb2312") <= 0xD7,
    "big5": lambda c: 0xA4 <= _lead(c, "big5") <= 0xC6,
}


def likely_encoding(data: bytes) -> str:
    """The encoding of Windows or another in which most words beside ASCII have the letters of one language.

    Examples
    --------
    >>> [likely_encoding("Paweł,Żaneta".encode("cp1250")), likely_encoding("Noël,Zoé".encode("cp1252"))]
    ['cp1250', 'cp1252']
    >>> [likely_encoding("Анна;Вера".encode("cp1251")), likely_encoding("田中,鈴木".encode("cp932"))]
    ['cp1251', 'cp932']
    """
    lines = [line for line in data[: 64 * _SAMPLE].split(b"\n") if not line.isascii()]
    sample = b"\n".join(lines)
    if len(sample) > _SAMPLE:
        sample = sample[:_SAMPLE].rpartition(b"\n")[0] or sample
    best, share = "cp1252", _ENOUGH
    decoded: dict[str, list[str]] = {}
    for encoding, alphabet in _ALPHABETS:
        if encoding not in decoded:
            decoded[encoding] = _words(sample, encoding)
        found = _fitting(decoded[encoding], alphabet)
        enough = len(decoded[encoding]) >= _WORDS or encoding.startswith("cp125")
        if found > share and enough:
            best, share = encoding, found
    for encoding, is_common in _WIDE.items():
        found = _share(sample, encoding, is_common)
        if found > share:
            best, share = encoding, found
    return best


def _words(sample: bytes, encoding: str) -> list[str]:
    """Different words with letters beside ASCII; none if the bytes are not in this encoding."""
    try:
        words = set(_WORD.findall(sample.decode(encoding)))
    except UnicodeDecodeError:
        return []
    bare = {word.strip(_PUNCTUATION) for word in words if not word.isascii()}
    return [word for word in bare if word and not word.isascii()]


def _fitting(words: list[str], alphabet: str) -> float:
    """Which part of the words could be of the language of an alphabet."""
    letters = frozenset(alphabet)
    own_script = min(letters) > "\u0300"  # such a word has no Latin letters in it
    fits = sum(_fits(word, letters, own_script) for word in words)
    return fits / len(words) if words else 0.0


def _fits(word: str, letters: frozenset[str], own_script: bool) -> bool:
    if own_script and any(c.isascii() and c.isalpha() for c in word):
        return False
    if own_script and word not in (word.lower(), word.upper(), word.title()):
        return False
    if any(a.islower() and b.isupper() and not b.isascii() for a, b in pairwise(word)):
        return False
    return all(c.isascii() or c in letters for c in word.lower())


def _share(sample: bytes, encoding: str, is_common: Callable[[str], bool]) -> float:
    """Which part of the characters beside ASCII is common in an encoding."""
    try:
        characters = [c for c in sample.decode(encoding) if not c.isascii()]
    except UnicodeDecodeError:
        return 0.0
    return sum(map(is_common, characters)) / len(characters) if characters else 0.0


def is_recoded(encoding: str) -> bool:
    """Whether text in this encoding is turned into UTF-8 before it is cut: a byte in it may be half a letter."""
    plain = encoding.lower().replace("_", "").replace("-", "")
    return plain.startswith(("utf16", "utf32", "cp932", "shift", "sjis", "euc", "cp949", "gb", "big5"))
