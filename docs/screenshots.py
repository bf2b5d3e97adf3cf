"""Make the pictures and the shown output of the documentation again, from the code as it is.

    python docs/screenshots.py            all of them
    python docs/screenshots.py tutorial   those of one page: tutorial or report

Chromium and Selenium take the pictures. Networks that are fetched are read from the folder that KLAFTER_DATA names.
"""

from __future__ import annotations

import base64
import re
import shutil
import sys
import tempfile
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
IMAGES, TUTORIAL = HERE / "images", HERE / "tutorial"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
NAMES = [
    "Ana",
    "Bo",
    "Cem",
    "Dora",
    "Eli",
    "Finn",
    "Gül",
    "Hana",
    "Ivo",
    "June",
    "Kofi",
    "Lena",
    "Max",
    "Nour",
    "Ole",
    "Pia",
    "Quinn",
    "Rosa",
    "Sam",
    "Tara",
    "Uma",
    "Vito",
    "Wen",
    "Xenia",
    "Yara",
    "Zoe",
    "Aldo",
    "Bea",
    "Cleo",
    "Dan",
    "Enzo",
    "Flora",
    "Gita",
    "Hugo",
    "Inês",
    "Jonas",
    "Kira",
    "Luca",
    "Mira",
    "Nils",
    "Olga",
    "Paul",
    "Rita",
    "Sven",
    "Tom",
]
TEAMS = ("Design", "Sales", "Workshop")
COMMANDS = [
    ["look", "staff.xlsx", "--nodes", "auto"],
    ["fit", "staff.xlsx", "--nodes", "auto", "-o", "staff.npz", "--report", "staff.html"],
    ["communities", "staff.npz", "--members", "6"],
    ["explain", "staff.npz", "Ana", "June"],
]


def write_staff(path: Path) -> None:
    """Forty-five people of three teams, who talks with whom; some belong to two, two talk with nobody."""
    from openpyxl import Workbook

    rng = np.random.default_rng(5)
    team = np.arange(len(NAMES)) % len(TEAMS)
    member = np.eye(len(TEAMS))[team]
    member[[4, 11, 18, 25], (team[[4, 11, 18, 25]] + 1) % len(TEAMS)] = 1
    chance = np.where(member @ member.T > 0, 0.55, 0.03)
    chance[-2:], chance[:, -2:] = 0, 0
    first, second = np.nonzero(np.triu(rng.random(chance.shape) < chance, 1))
    book = Workbook()
    links, people = book.active, book.create_sheet("nodes")
    links.title = "edges"
    links.append(["Person", "Talks with"])
    for i, j in zip(first, second):
        links.append([NAMES[i], NAMES[j]])
    people.append(["Person", "Team", "Years"])
    for i, name in enumerate(NAMES):
        people.append([name, TEAMS[team[i]], int(rng.integers(1, 20))])
    book.save(path)


def show(opening: str, text: str) -> None:
    """Put text into the block of the tutorial that begins with some words."""
    page = HERE / "tutorial.md"
    block = re.compile(rf"(?<=^```text\n){re.escape(opening)}.*?(?=\n```$)", re.DOTALL | re.MULTILINE)
    new, found = block.subn(lambda _: text, page.read_text(encoding="utf-8"))
    if found != 1:
        raise SystemExit(f"tutorial.md has {found} blocks that begin with {opening!r}.")
    page.write_text(new, encoding="utf-8")


def tutorial(take) -> None:
    """The commands of the tutorial, what they print, and the page."""
    from typer.testing import CliRunner

    from klafter.cli.app import app
    from klafter.models import load
    from klafter.report import gather

    if not (TUTORIAL / "staff.xlsx").is_file():
        write_staff(TUTORIAL / "staff.xlsx")
    with tempfile.TemporaryDirectory() as folder, working_in(folder):
        shutil.copy(TUTORIAL / "staff.xlsx", folder)
        for words in COMMANDS:
            shown = CliRunner(env={"COLUMNS": "92", "NO_COLOR": "1"}).invoke(app, words, prog_name="klafter")
            if shown.exit_code:
                raise SystemExit(f"klafter {' '.join(words)}: {shown.output}")
            text = "\n".join(line.rstrip() for line in shown.stdout.splitlines())
            show(f"$ klafter {words[0]} ", f"$ klafter {' '.join(words)}\n{text}")
        show("The network has ", textwrap.fill(" ".join(gather(load("staff.npz")).words), 92))
        page = Path("staff.html").resolve()
        take(page, "tutorial-page", height=1010)
        take(page, "tutorial-node", of=".stage", script=CHOOSE.format("Eli"))
        take(page, "tutorial-communities", of="#communities")
        take(page, "tutorial-team", of=".stage", script=COLOUR)
        take(page, "tutorial-fit", of="#fit", script="document.querySelector('#fit details').open = false")


CHOOSE = """
    const box = document.getElementById('search');
    box.value = '{}'; box.dispatchEvent(new Event('input'));
    document.querySelector('#found button').click();
"""
COLOUR = (
    "const list = document.getElementById('colour-by'); list.value = 'Team'; list.dispatchEvent(new Event('change'))"
)


def pages(take) -> None:
    """The pictures of the page about reports."""
    import klafter as kl
    from klafter.datasets import fetch_lazega, fetch_nips234, make_overlapping

    lawyers = kl.KLafter(random_state=0).fit(fetch_lazega("friend"))
    authors = kl.KLafter(random_state=0).fit(fetch_nips234())
    large = kl.KLafter(random_state=0).fit(make_overlapping(n=10_000, random_state=0)[0])
    with tempfile.TemporaryDirectory() as folder:
        page = kl.report(lawyers, Path(folder) / "lawyers.html", title="Friends among the lawyers of a firm")
        take(page, "report", height=1250)
        take(page, "report-communities", of="#communities, #overlaps")
        take(page, "report-fit", of="#fit", script="document.querySelector('#fit details').open = false")
        take(kl.report(authors, Path(folder) / "authors.html"), "report-nips234", of=".stage")
        take(kl.report(large, Path(folder) / "large.html"), "report-10000", of=".stage")


@contextmanager
def working_in(folder):
    """With this as the current folder."""
    import os

    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def camera():
    """A function that takes a picture of a page, or of the parts of it that a selector names."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            yield lambda *words, **how: take_picture(driver, *words, **how)
        finally:
            driver.quit()


BOX = """
    const boxes = [...document.querySelectorAll(arguments[0])].map((part) => part.getBoundingClientRect());
    const left = Math.max(Math.min(...boxes.map((b) => b.left)) - 16, 0);
    const top = Math.max(Math.min(...boxes.map((b) => b.top)) + scrollY - 8, 0);
    const width = Math.max(...boxes.map((b) => b.right)) + 16 - left;
    return {x: left, y: top, width, height: Math.max(...boxes.map((b) => b.bottom)) + scrollY + 8 - top};
"""


def take_picture(driver, page: Path, name: str, *, of="", width=1400, height=900, scheme="light", script="") -> None:
    """Open a page at a size, do something there, and save what is seen."""
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(page.resolve().as_uri())
    if script:
        driver.execute_script(script)
    time.sleep(0.8)
    box = driver.execute_script(BOX, of) if of else {"x": 0, "y": 0, "width": width, "height": height}
    how = {"captureBeyondViewport": True, "clip": {**box, "scale": 1}}
    found = driver.execute_cdp_cmd("Page.captureScreenshot", how)["data"]
    (IMAGES / f"{name}.png").write_bytes(base64.b64decode(found))
    print(f"{name}.png")


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["tutorial", "report"]
    with camera() as take:
        for part in wanted:
            {"tutorial": tutorial, "report": pages}[part](take)
