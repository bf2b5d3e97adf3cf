"""Formulas as MathML, which browsers draw by themselves: pages need no script and no connection."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

FUNCTION = re.compile(r"(<mi>(?:log|exp)</mi>)(?=<m(?:i|sub|frac|row|n)\b)")  # written with a thin space after it


def as_mathml(latex: str, display: str) -> str:
    """The formula; one that the converter does not know stops the build."""
    text = convert(latex, display=display)
    if "\\" in text or "<mi>&</mi>" in text:
        raise ValueError(f"No MathML for a part of {latex!r}: {text!r}. Write it another way.")
    return FUNCTION.sub(r'\1<mspace width="0.17em"/>', text)


def write_inline(writer, node):
    """A formula inside a line."""
    writer.body.append(as_mathml(node.astext(), "inline"))
    raise SkipNode


def write_block(writer, node):
    """A formula on lines of its own, in a box that scrolls where the page is narrow."""
    writer.body.append(f'<div class="math-block">{as_mathml(node.astext(), "block")}</div>\n')
    raise SkipNode


def setup(app):
    """Offer the renderer by the name mathml."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
