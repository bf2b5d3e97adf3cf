"""``klafter watch``: a stream of links that come and go, and a model that follows."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TextIO

import typer

from klafter.cli import RECEIVED
from klafter.cli.inputs import check_output, check_readable, load_model
from klafter.cli.progress import watched
from klafter.cli.screen import Quiet, say
from klafter.cli.sentences import Interrupted, Mistake
from klafter.models.interrupt import Interrupt

PAUSE = 0.5  # seconds between looks at a file that is followed
LONGEST = 1 << 20  # characters of a line
STREAMS = (None, "a pipe", "a device")  # of links: a file, and what has no end


class Line(NamedTuple):
    """A link that comes (value) or goes (value is None)."""

    number: int
    ends: tuple[str, str]
    value: float | None


def watch(
    stream: Annotated[str, typer.Argument(metavar="FILE", help="Links as they come, one a line; - is stdin.")],
    model: Annotated[Path, typer.Option("--model", "-m", help="The model that follows.")] = Path("model.npz"),
    batch: Annotated[int, typer.Option(min=1, help="Links to an update.")] = 1000,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more lines, until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document for each update.")] = False,
    quiet: Quiet = False,
) -> None:
    """Keep a model up to date with a stream of links.

    A line names two nodes, parted by a tab, a comma or blanks, with a value behind them if links have values; new
    nodes may be among them. A line that begins with `- ` and two nodes takes a link away. The model, made by
    `klafter fit`, is updated and saved after every batch.

    **Examples**

    `klafter watch today.tsv --model friends.npz`

    `tail -f links.log | klafter watch - -m friends.npz --batch 100`

    `klafter watch links.log -m friends.npz --follow --json`
    """
    check_readable(str(model), "a model that klafter fit wrote")
    if not model.is_file():
        raise Mistake(f"There is no model {model} to keep up to date; make one with klafter fit GRAPH -o {model}.")
    check_output(model, None if stream == "-" else stream)
    from klafter.graph.places import no_file

    if stream != "-" and (found := no_file(stream)) not in STREAMS:
        raise Mistake(f"{stream} is {found}; name a file of links." if found else f"There is no file {stream!r}.")
    fitted: Any = load_model(model)
    if not hasattr(fitted, "partial_fit"):
        raise Mistake(f"{model} is a {type(fitted).__name__}, which cannot be updated; fit a klafter model.")
    source = "stdin" if stream == "-" else stream
    opened = nullcontext(sys.stdin) if stream == "-" else open(stream, encoding="utf-8-sig", errors="replace")  # noqa: SIM115
    held = 0
    try:
        with opened as lines, Interrupt(bool(RECEIVED)) as interrupt:
            for part in batches(read_lines(lines, source, follow and stream != "-"), batch):
                print_update(update(fitted, part, source, quiet, interrupt), as_json, quiet)
                fitted.save(model)
                held = part[-1].number
                if interrupt.happened:  # an update hears Ctrl-C itself, and keeps the best so far
                    break
    except KeyboardInterrupt:
        interrupt.happened = True
    if interrupt.happened:
        kept = f"holds what was read up to line {held:,}" if held else "is as it was"
        raise Interrupted(f"Interrupted; {model} {kept}.")


def read_lines(lines: TextIO, source: str, follow: bool) -> Iterator[Line | None]:
    """Links of a stream in order; None where a followed file has no more for now."""
    number, held = 0, ""
    while True:
        text = lines.readline(LONGEST)
        if len(text) == LONGEST or "\0" in text:
            found = "binary data" if "\0" in text else f"a line of more than {LONGEST:,} characters"
            raise Mistake(f"{source}, line {number + 1}: found {found}, but a link is two names; check the file.")
        if not text or (follow and not text.endswith("\n")):
            if not follow:
                return
            held += text  # half a line: the rest is still being written
            if RECEIVED:  # Python swallows a Ctrl-C that meets a destructor or a callback
                raise KeyboardInterrupt
            yield None
            time.sleep(PAUSE)
            continue
        text, held, number = held + text, "", number + 1
        if text.strip() and text.lstrip()[0] not in "#%":
            yield parse(text.strip(), source, number)


def parse(text: str, source: str, number: int) -> Line:
    """``a b``, ``a b 3`` or ``- a b``."""
    gone = text[0] == "-" and text[1:2].isspace()
    delimiter = next((d for d in "\t,;" if d in text.lstrip("-+ \t")), None)
    body = text[1:].strip() if gone else text
    words = [word.strip() for word in body.split(delimiter)]
    if len(words) not in (2, 3) or not all(words):
        raise Mistake(f"{source}, line {number}: {text!r} is not a link; write two nodes, and a value if it has one.")
    if gone or len(words) == 2:
        return Line(number, (words[0], words[1]), None if gone else 1.0)
    try:
        return Line(number, (words[0], words[1]), float(words[2]))
    except ValueError:
        raise Mistake(f"{source}, line {number}: the value {words[2]!r} is not a number.") from None


def batches(lines: Iterator[Line | None], size: int) -> Iterator[list[Line]]:
    """Links a batch at a time, fewer where the stream pauses or ends."""
    part: list[Line] = []
    for line in chain(lines, [None]):
        if line is not None:
            part.append(line)
        if part and (line is None or len(part) == size):
            yield part
            part = []


def update(model, part: list[Line], source: str, quiet: bool, interrupt: Interrupt) -> dict[str, Any]:
    """One update, and what changed by it. What a batch says last of a pair stands."""
    last = {line.ends if model.graph_.directed else tuple(sorted(line.ends)): line for line in part}
    coming = [(*line.ends, line.value) for line in last.values() if line.value is not None]
    loops = sum(one == other for one, other, _ in coming)
    going = [line.ends for line in last.values() if line.value is None]
    absent = [pair for pair in going if not linked(model.graph_, pair)]
    before, communities = model.graph_, model.memberships_
    with watched(quiet) as meter:
        try:
            model.partial_fit(coming, [pair for pair in going if pair not in absent], callback=interrupt.ends(meter))
        except (KeyError, ValueError) as error:
            raise Mistake(f"{source}, lines {part[0].number} to {part[-1].number}: {error.args[0]}") from None
    from klafter.cli.facts import describe_change

    return {
        "line": part[-1].number,
        "links_added": len(coming) - loops,
        "links_to_self": loops,
        "links_removed": len(going) - len(absent),
        "links_absent": len(absent),
        "nodes_added": model.graph_.n_nodes - before.n_nodes,
        "communities": int(model.n_communities_),
        **describe_change(communities, model.memberships_),
        "seconds": round(model.fit_seconds_, 3),
    }


def linked(graph, pair) -> bool:
    """Whether two nodes are known and linked."""
    try:
        i, j = graph.index(pair[0]), graph.index(pair[1])
    except KeyError:
        return False
    return graph.links[i, j] != 0


def print_update(facts: dict[str, Any], as_json: bool, quiet: bool) -> None:
    """A line for each update."""
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.flush()
        return
    if quiet:
        return
    absent = f" ({facts['links_absent']:,} were not there)" if facts["links_absent"] else ""
    loops = f" {facts['links_to_self']:,} from a node to itself do not count." if facts["links_to_self"] else ""
    say(
        f"Line {facts['line']:,}: {facts['links_added']:,} links and {facts['nodes_added']:,} nodes came, "
        f"{facts['links_removed']:,} links went{absent}.{loops} {facts['communities']:,} communities, "
        f"{facts['born']:,} new, {facts['died']:,} gone; {facts['moved']:,} nodes changed theirs. "
        f"{facts['seconds']:.1f} s."
    )
