"""Formulas as MathML, which browsers draw by themselves: pages need no script and no connection."""

from latex2mathml.converter import convert


def write_inline(writer, node):
    """A formula inside a line."""
    writer.body.append(as_mathml(node.astext(), "inline"))


def write_block(writer, node):
    """A formula on lines of its own, in a box that scrolls where the page is narrow."""
    writer.body.append(f'<div class="math-block">{as_mathml(node.astext(), "block")}</div>\n')


def as_mathml(latex: str, display: str) -> str:
    """The formula; one that the converter does not know stops the build."""
    text = convert(latex, display=display)
    if "\\" in text:
        raise ValueError(f"No MathML for a part of {latex!r}: {text!r}. Write it another way.")
    return text


def leave(writer, node):
    """Docutils asks for it; the formula was written on the way in."""


def skip_children(visit):
    """A visitor that writes a node and not what is in it."""

    def visitor(writer, node):
        from docutils.nodes import SkipNode

        visit(writer, node)
        raise SkipNode

    return visitor


def setup(app):
    """Offer the renderer by the name mathml."""
    app.add_html_math_renderer("mathml", (skip_children(write_inline), leave), (skip_children(write_block), leave))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
