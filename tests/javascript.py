"""The names of a JavaScript module, read without a JavaScript engine.

Declarations count for the whole file, whatever their scope: a name that is used and declared nowhere is found, one
that is used outside the function that declares it is left to eslint.
"""

import re
from dataclasses import dataclass

from klafter.report.html import EXPORT, IMPORT


def words(text: str) -> set[str]:
    return set(text.split())


KEYWORDS = words(
    "await break case catch class const constructor continue default delete do else export extends false finally for "
    "function if import in instanceof let new null of return static super switch this throw true try typeof undefined "
    "var void while with yield"
)
LANGUAGE = words("Array Boolean Infinity JSON Map Math Number Object RegExp Set String Uint8Array parseInt")
BROWSER = words(
    "Blob ResizeObserver URL addEventListener atob devicePixelRatio document getComputedStyle innerHeight innerWidth "
    "matchMedia navigator"
)
TOKEN = re.compile(r"\.\.\.|=>|\?\.|[A-Za-z_$][\w$]*|\d[\w.]*|[^\s\w]")
NAME = re.compile(r"[A-Za-z_$][\w$]*")
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
OPEN, CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Module:
    """What a module imports (name: file), exports, declares at its top level or anywhere, and uses."""

    imports: dict[str, str]
    exports: set[str]
    top: list[str]
    declared: set[str]
    used: set[str]

    def undefined(self) -> set[str]:
        return self.used - self.declared - set(self.imports) - LANGUAGE - BROWSER


def read_module(text: str) -> Module:
    imports = {name: file for names, file in IMPORT.findall(text) for name in names.split(", ")}
    body = IMPORT.sub("", text)
    exported = [m.end() for m in EXPORT.finditer(body)]
    tokens = TOKEN.findall(code_of(EXPORT.sub("", body)))
    exports = {name for at in exported for name in first_declared(TOKEN.findall(code_of(body[at:])))}
    return Module(imports, exports, top_level(tokens), declarations(tokens), uses(tokens))


def code_of(text: str) -> str:
    """The text without comments and strings; of templates only what stands in ${...}."""
    out, at = [], 0
    while at < len(text):
        if found := TEXT.match(text, at):
            out.append(" '' " if text[at] != "/" else " ")
            at = found.end()
        elif text[at] == "`":
            inner, at = template(text, at + 1)
            out.append(f" ({inner}) ")
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def template(text: str, at: int) -> tuple[str, int]:
    """The code in a template that begins at ``at``, and where the template ends."""
    codes = []
    while text[at] != "`":
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            end = matching_brace(text, at + 1)
            codes.append(code_of(text[at + 2 : end]))
            at = end + 1
        else:
            at += 1
    return ", ".join(f"({code})" for code in codes), at + 1


def matching_brace(text: str, at: int) -> int:
    depth = 0
    while True:
        if found := TEXT.match(text, at):
            at = found.end()
            continue
        if text[at] == "`":
            at = template(text, at + 1)[1]
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at
        at += 1


def group_end(tokens: list[str], at: int) -> int:
    """The position after the bracket that closes the one at ``at``."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end] in OPEN) - (tokens[end] in CLOSE)
        if depth == 0:
            return end + 1
    raise AssertionError(f"a bracket is never closed: {' '.join(tokens[at : at + 12])} ...")


def group_start(tokens: list[str], at: int) -> int:
    """The position of the bracket that the one at ``at`` closes."""
    depth = 0
    for start in range(at, -1, -1):
        depth += (tokens[start] in CLOSE) - (tokens[start] in OPEN)
        if depth == 0:
            return start
    raise AssertionError("a bracket is never opened")


def is_method(tokens: list[str], at: int) -> bool:
    """Whether a method of a class is defined here: name(...) { after the end of something."""
    if (
        at + 1 >= len(tokens)
        or tokens[at + 1] != "("
        or tokens[at - 1] not in "{};"
        or tokens[at] in KEYWORDS - {"constructor"}
    ):
        return False
    end = group_end(tokens, at + 1)
    return end < len(tokens) and tokens[end] == "{"


def pattern_names(tokens: list[str]) -> set[str]:
    """Names that a pattern or a list of parameters binds: no keys and no default values."""
    names, at = set(), 0
    while at < len(tokens):
        token, after = tokens[at], tokens[at + 1 : at + 2]
        if token == "=":
            at = value_end(tokens, at + 1)
            continue
        if NAME.fullmatch(token) and after != [":"]:
            names.add(token)
        at += 1
    return names


def value_end(tokens: list[str], at: int) -> int:
    """Where a value ends: at a comma, a semicolon or a closing bracket that is not its own."""
    while at < len(tokens) and tokens[at] not in {",", ";", *CLOSE}:
        at = group_end(tokens, at) if tokens[at] in OPEN else at + 1
    return at


def declarators(tokens: list[str], at: int) -> set[str]:
    """Names declared by the const or let at ``at``."""
    names, at = set(), at + 1
    while True:
        end = group_end(tokens, at) if tokens[at] in OPEN else at + 1
        names |= pattern_names(tokens[at:end])
        if tokens[end : end + 1] != ["="]:
            return names  # for (const x of ...)
        end = value_end(tokens, end + 1)
        if tokens[end : end + 1] != [","]:
            return names
        at = end + 1


def first_declared(tokens: list[str]) -> set[str]:
    return declarators(tokens, 0) if tokens[0] in {"const", "let"} else {tokens[1]}


def top_level(tokens: list[str]) -> list[str]:
    depth, names = 0, []
    for at, token in enumerate(tokens):
        if depth == 0 and token in {"const", "let", "function", "class"}:
            names += first_declared(tokens[at:])
        depth += (token in OPEN) - (token in CLOSE)
    return names


def declarations(tokens: list[str]) -> set[str]:
    names = set()
    for at, token in enumerate(tokens):
        if token in {"const", "let", "function", "class"}:
            names |= first_declared(tokens[at:])
        if token == "function":
            names |= pattern_names(tokens[at + 2 : group_end(tokens, at + 2)])
        elif (token == "catch" and tokens[at + 1] == "(") or is_method(tokens, at):
            names |= pattern_names(tokens[at + 1 : group_end(tokens, at + 1)])
        elif token == "=>":
            start = group_start(tokens, at - 1) if tokens[at - 1] == ")" else at - 1
            names |= pattern_names(tokens[start:at])
    return names


def uses(tokens: list[str]) -> set[str]:
    """Names that are neither keywords nor properties nor keys nor methods."""
    names = set()
    for at, token in enumerate(tokens):
        before, after = tokens[at - 1 : at], tokens[at + 1 : at + 2]
        is_property = before in (["."], ["?."])
        is_key = after == [":"] and before in (["{"], [","])
        if (
            NAME.fullmatch(token)
            and token not in KEYWORDS
            and not is_property
            and not is_key
            and not is_method(tokens, at)
        ):
            names.add(token)
    return names
