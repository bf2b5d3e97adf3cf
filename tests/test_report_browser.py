"""The page in a real browser (Debian's chromium, headless, through Selenium), and for everybody (axe)."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from report_models import told, two_groups

import klafter as kl
from klafter.datasets import make_lfrm, make_overlapping

selenium = pytest.importorskip("selenium", reason="selenium is not installed: pip install selenium")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no browser: apt-get install chromium chromium-driver"
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1300,1000",
]
SECTIONS = ["network", "communities", "overlaps", "matrix", "affinity", "missing", "surprising", "held", "fit"]
PLACE_OF_NODE_1 = """
    const d = JSON.parse(document.getElementById('data').textContent).network, c = document.getElementById('canvas');
    c.scrollIntoView({ behavior: 'instant', block: 'center' });
    const r = Math.max(...d.radius), lo = (v) => Math.min(...v) - r, hi = (v) => Math.max(...v) + r;
    const s = Math.min((c.clientWidth - 48) / (hi(d.x) - lo(d.x)), (c.clientHeight - 48) / (hi(d.y) - lo(d.y)));
    return [d.x, d.y].map((v) => Math.round((v[1] - (lo(v) + hi(v)) / 2) * s));
"""
PLACE_OF_A_MEMBER = """
    const d = JSON.parse(document.getElementById('data').textContent), c = document.getElementById('canvas');
    c.scrollIntoView({ behavior: 'instant', block: 'center' });
    const k = Number(document.getElementById('crumbs').textContent.match(/Community (\\d+)/)[1]);
    const drawn = d.overview.inner[k];
    const [x, y] = [drawn.x, drawn.y].map((text) => [...atob(text)].map((byte) => byte.charCodeAt(0)));
    const r = drawn.radius, span = (v) => Math.max(...v) - Math.min(...v) + 2 * r;
    const s = Math.min((c.clientWidth - 48) / span(x), (c.clientHeight - 110) / span(y));
    const middle = (v) => (Math.max(...v) + Math.min(...v)) / 2;
    return [k, d.nodes.labels[d.communities[k].members[5]], [x, y].map((v) => Math.round((v[5] - middle(v)) * s))];
"""
AXE = Path(__file__).resolve().parents[1] / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: make axe (it needs npm)")
RUN_AXE = """
    const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations), (e) => done(String(e)));
"""
EVIL = "<script>document.title='gone'</script>"
LABELS = [EVIL, "bob", "cat", "dan", "eve", "fay", "gus", "hal"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    graph, z = two_groups(labels=LABELS, directed=True, attributes={"kind": np.array(list("aaabbbbc"))})
    held = (np.array([[0, 1], [0, 7]]), np.array([1.0, 0.0]))
    return kl.report(told(graph, z), tmp_path_factory.mktemp("page") / "small.html", held=held, title="Friends")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    graph, truth = make_overlapping(n=2_100, community_size=100, random_state=0)
    model = told(graph, truth.memberships, response="exposure")
    return kl.report(model, tmp_path_factory.mktemp("page") / "large.html")


@pytest.fixture
def opened(browser, small):
    return open_page(browser, small)


def open_page(browser, path):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(path.as_uri())
    ready = "return 'ready' in document.documentElement.dataset"
    WebDriverWait(browser, 20).until(lambda page: page.execute_script(ready), f"{path.name} is not ready")
    return browser


def all_of(browser, selector):
    return browser.find_elements("css selector", selector)


def click(browser, selector):
    browser.execute_script("arguments[0].click()", all_of(browser, selector)[0])


def pixels(browser):
    return browser.execute_script("return document.getElementById('canvas').toDataURL()")


def test_loads_without_errors_or_requests(browser, small):
    browser.get("about:blank")
    browser.get_log("performance")
    open_page(browser, small)
    assert browser.get_log("browser") == []
    messages = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("file:", "data:", "chrome:"))] == []


@pytest.fixture(scope="module")
def levelled(tmp_path_factory):
    graph, _ = make_lfrm(60, 4, memberships=(1, 1), random_state=1)
    model = kl.KLafter(n_init=2, n_smooth=0, random_state=0).fit(graph)
    return model, kl.report(model, tmp_path_factory.mktemp("page") / "levels.html")


def slide(browser, value):
    browser.execute_script(
        "const s = document.getElementById('level'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", value
    )


def test_the_slider_recolours_the_network_and_lists_the_communities_of_the_level(browser, levelled):
    model, path = levelled
    open_page(browser, path)
    before, details = pixels(browser), "#details"
    assert f"{model.n_communities_} communities, as in the report" in all_of(browser, "#level-text")[0].text
    slide(browser, 0)
    assert "1 community" in all_of(browser, "#level-text")[0].text
    assert "Level of 1 community" in all_of(browser, details)[0].text
    assert len(all_of(browser, ".level-list li")) == 1
    assert pixels(browser) != before
    click(browser, "#level-home")
    assert pixels(browser) == before
    slide(browser, 0)
    click(browser, "#community-table .chip")  # a community of the report's level
    assert "as in the report" in all_of(browser, "#level-text")[0].text
    assert browser.get_log("browser") == []


def test_without_other_levels_there_is_no_slider(opened):
    assert not all_of(opened, "#levels")[0].is_displayed()


def test_every_section_has_something_to_show(opened):
    shown = [section.get_attribute("id") for section in all_of(opened, "main section") if section.is_displayed()]
    assert shown == SECTIONS
    assert [a.get_attribute("hash") for a in all_of(opened, "nav a")] == [f"#{name}" for name in shown]


def test_search_finds_a_node_and_shows_it(opened):
    before = pixels(opened)
    box = all_of(opened, "#search")[0]
    box.send_keys("da")
    assert [b.text for b in all_of(opened, "#found button")] == ["dan"]
    box.send_keys("\ue007")
    assert all_of(opened, "#details h3")[0].text == "dan"
    assert len(all_of(opened, "#details .chip")) == 2
    assert pixels(opened) != before


def test_search_says_when_there_is_none(opened):
    all_of(opened, "#search")[0].send_keys("zzz")
    assert all_of(opened, "#found")[0].text == "No node has this in its name."


def test_a_click_highlights_a_community(opened):
    before = pixels(opened)
    click(opened, "#community-table .chip")
    assert pixels(opened) != before
    assert all_of(opened, "tr.chosen .chip")[0].get_attribute("aria-pressed") == "true"
    assert "Community 0" in all_of(opened, "#details h3")[0].text
    click(opened, "#community-table .chip")
    assert pixels(opened) == before


def test_a_click_on_the_drawing_selects_a_node(opened):
    from selenium.webdriver import ActionChains

    canvas = all_of(opened, "#canvas")[0]
    ActionChains(opened).move_to_element_with_offset(canvas, *opened.execute_script(PLACE_OF_NODE_1)).perform()
    assert all_of(opened, "#tip b")[0].text == "bob"
    ActionChains(opened).click().perform()
    assert all_of(opened, "#details h3")[0].text == "bob"


def test_zoom_by_keys_and_back(opened):
    before = pixels(opened)
    canvas = all_of(opened, "#canvas")[0]
    canvas.send_keys("+")
    assert pixels(opened) != before
    canvas.send_keys("0")
    assert pixels(opened) == before


def test_the_table_sorts(opened):
    def column():
        return [row.get_attribute("data-community") for row in all_of(opened, "#community-table tbody tr")]

    click(opened, "#community-table th button")
    first = column()
    assert first == ["0", "1"]
    click(opened, "#community-table th button")
    assert column() == first[::-1]
    assert all_of(opened, "#community-table th")[0].get_attribute("aria-sort") == "descending"


def test_a_label_with_a_script_is_shown_as_text(opened):
    all_of(opened, "#search")[0].send_keys("<script", "\ue007")
    assert all_of(opened, "#details h3")[0].text == EVIL
    assert opened.title == "Friends"
    assert len(all_of(opened, "script")) == 2


def test_dark_and_light_differ(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    before = pixels(opened)
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    WebDriverWait(opened, 10).until(lambda page: pixels(page) != before)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("k", [0, 1])
def test_few_communities_raise_no_errors(browser, tmp_path, k):
    graph, z = two_groups()
    open_page(browser, kl.report(told(graph, z[:, :k]), tmp_path / "few.html"))
    assert browser.get_log("browser") == []


def test_a_large_graph_is_looked_into(browser, large):
    open_page(browser, large)
    assert browser.get_log("browser") == []
    click(browser, "#details .chip")
    click(browser, "#details .more")
    assert "All communities" in all_of(browser, "#crumbs")[0].text
    click(browser, "#crumbs button")
    assert not all_of(browser, "#crumbs")[0].is_displayed()


def test_a_member_is_drawn_where_the_report_placed_it(browser, large):
    from selenium.webdriver import ActionChains

    open_page(browser, large)
    click(browser, "#details .chip")
    click(browser, "#details .more")
    community, number, offset = browser.execute_script(PLACE_OF_A_MEMBER)
    canvas = all_of(browser, "#canvas")[0]
    ActionChains(browser).move_to_element_with_offset(canvas, *offset).perform()
    assert all_of(browser, "#tip b")[0].text == str(number)
    assert f"Community {community}" in all_of(browser, "#crumbs")[0].text


def test_search_in_a_large_graph_opens_a_community(browser, large):
    open_page(browser, large)
    all_of(browser, "#search")[0].send_keys("17", "\ue007")
    assert all_of(browser, "#details h3")[0].text == "17"
    assert all_of(browser, "#crumbs")[0].is_displayed()


def serious_problems(page) -> list[str]:
    page.execute_script(AXE.read_text(encoding="utf-8"))
    found = page.execute_async_script(RUN_AXE)
    assert isinstance(found, list), found
    return [
        f"{problem['id']}: {problem['help']}: {node['html'][:120]}"
        for problem in found
        if problem["impact"] in ("serious", "critical")
        for node in problem["nodes"]
    ]


@needs_axe
def test_axe_sees_a_problem(opened):
    opened.execute_script(
        "document.querySelector('main').innerHTML += '<img src=\"data:,\"><p style=\"color:#ddd\">pale words</p>'"
    )
    assert {line.split(":")[0] for line in serious_problems(opened)} >= {"image-alt", "color-contrast"}


@pytest.fixture(params=["light", "dark"])
def scheme(request, browser):
    features = [{"name": "prefers-color-scheme", "value": request.param}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    yield request.param
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@needs_axe
def test_nothing_serious_on_a_small_page(browser, small, scheme):
    page = open_page(browser, small)
    assert serious_problems(page) == []
    all_of(page, "#search")[0].send_keys("da")
    assert serious_problems(page) == []
    all_of(page, "#search")[0].send_keys("\ue007")
    assert serious_problems(page) == []
    click(page, "#community-table .chip")
    assert serious_problems(page) == []


@pytest.mark.slow
@needs_axe
def test_nothing_serious_on_a_large_page(browser, large, scheme):
    page = open_page(browser, large)
    assert serious_problems(page) == []
    click(page, "#details .chip")
    click(page, "#details .more")
    assert serious_problems(page) == []


@needs_axe
def test_nothing_serious_on_a_narrow_page(browser, small, scheme):
    size = browser.get_window_size()
    browser.set_window_size(420, 900)
    try:
        assert serious_problems(open_page(browser, small)) == []
    finally:
        browser.set_window_size(size["width"], size["height"])


def test_the_highlighted_run_is_the_one_whose_communities_are_drawn(browser, levelled):
    model, path = levelled
    open_page(browser, path)
    lowest = {}
    for line in model.history_:
        lowest[line.run] = min(line.objective, lowest.get(line.run, np.inf))
    best = min(lowest, key=lowest.get)
    assert lowest[best] == pytest.approx(model.levels_["score"][0], abs=1e-9)
    bold = all_of(browser, "#fit-charts polyline.bold")
    assert [line.get_attribute("data-run") for line in bold] == [str(best)] * 2
    hint = all_of(browser, "#fit-hint")[0].text
    assert f"Run {best + 1} of {len(lowest)} has the lowest" in hint
    assert "score F" in hint


@pytest.fixture
def phone(browser):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def in_sight(browser, selector):
    box = browser.execute_script("return document.querySelector(arguments[0]).getBoundingClientRect()", selector)
    return box["top"] < browser.execute_script("return innerHeight") and box["bottom"] > 0


def test_a_chip_of_the_table_leads_to_the_network(browser, small):
    from selenium.webdriver.support.ui import WebDriverWait

    open_page(browser, small)
    browser.execute_script(
        "document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('#fit').scrollIntoView()"
    )
    assert not in_sight(browser, "#canvas")
    click(browser, "#community-table .chip")
    WebDriverWait(browser, 10).until(lambda page: in_sight(page, "#canvas"))
    assert "Community 0" in all_of(browser, "#details h3")[0].text


def test_a_phone_can_read_the_table(phone, small):
    open_page(phone, small)
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 390
    cells = all_of(phone, "#community-table tbody tr:first-child td")
    assert all(cell.rect["x"] >= 0 and cell.rect["x"] + cell.rect["width"] <= 391 for cell in cells)
    names = "return getComputedStyle(document.querySelector('#community-table td:nth-child(2)'), '::before').content"
    assert phone.execute_script(names) == '"Members"'


MIDDLE_OF_THE_DRAWING = """
    const canvas = document.getElementById('canvas');
    canvas.scrollIntoView({ behavior: 'instant', block: 'center' });
    const box = canvas.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
"""


def test_two_fingers_zoom(phone, small):
    open_page(phone, small)
    before = pixels(phone)
    box = phone.execute_script(MIDDLE_OF_THE_DRAWING)
    for kind, gap in [("touchStart", 20), ("touchMove", 40), ("touchMove", 80)]:
        points = [{"x": box[0] + side * gap, "y": box[1], "id": k} for k, side in enumerate((-1, 1))]
        phone.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    phone.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert pixels(phone) != before
    assert all_of(phone, "#details h3")[0].text == "Communities, largest first"


def test_nodes_take_the_colours_of_an_attribute(opened):
    from selenium.webdriver.support.ui import Select

    before = pixels(opened)
    Select(all_of(opened, "#colour-by")[0]).select_by_value("kind")
    assert pixels(opened) != before
    assert "Coloured by kind" in all_of(opened, "#details")[0].text
    assert [item.text for item in all_of(opened, "#details li")] == ["b · 4", "a · 3", "c · 1"]
    click(opened, "#community-table .chip")  # a community shows in its own colours
    click(opened, "#community-table .chip")
    assert pixels(opened) == before


SAVED = """
    const done = arguments[arguments.length - 1];
    URL.createObjectURL = (blob) => { blob.text().then(done); return "blob:none"; };
    HTMLAnchorElement.prototype.click = () => {};
    document.getElementById(arguments[0]).click();
"""


def test_nodes_and_communities_are_saved_as_csv(opened):
    import csv

    lines = list(csv.DictReader(opened.execute_async_script(SAVED, "save-csv").lstrip("\ufeff").splitlines()))
    assert [line["node"] for line in lines] == LABELS
    assert lines[3]["communities"] == "0 1"
    assert [line["kind"] for line in lines] == list("aaabbbbc")
    table = list(csv.DictReader(opened.execute_async_script(SAVED, "save-communities").lstrip("\ufeff").splitlines()))
    assert [line["members"] for line in table] == ["4", "4"]


def test_the_drawing_is_saved_as_svg_and_png(opened):
    from xml.etree import ElementTree

    drawn = ElementTree.fromstring(opened.execute_async_script(SAVED, "save-svg"))
    texts = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "bob" in texts
    assert any(text.startswith("<script") for text in texts)  # a label with marks of XML is text there as well
    assert "PNG" in opened.execute_async_script(SAVED, "save-png")[:8]


def test_headers_explain_themselves(opened):
    opened.execute_script(
        "[...document.querySelectorAll('#community-table button')].find((b) => b.textContent === 'Stability').focus()"
    )
    assert all_of(opened, "#tip")[0].is_displayed()
    assert "other runs" in all_of(opened, "#tip")[0].text


GROUP = """
    const { x, y, radius } = JSON.parse(document.getElementById('data').textContent).groups.circles;
    const canvas = document.getElementById('canvas'), r = Math.max(...radius);
    canvas.scrollIntoView({ behavior: 'instant', block: 'center' });
    const lo = (v) => Math.min(...v) - r, hi = (v) => Math.max(...v) + r;
    const s = Math.min((canvas.clientWidth - 48) / (hi(x) - lo(x)), (canvas.clientHeight - 110) / (hi(y) - lo(y)));
    return [x, y].map((v) => Math.round((v[0] - (lo(v) + hi(v)) / 2) * s));
"""


def test_many_communities_open_group_by_group(browser, tmp_path, monkeypatch):
    from selenium.webdriver import ActionChains

    monkeypatch.setattr("klafter.report.groups.MANY", 20)
    graph, truth = make_overlapping(n=2_400, community_size=60, random_state=0)
    page = kl.report(told(graph, truth.memberships, response="exposure"), tmp_path / "groups.html")
    open_page(browser, page)
    assert "groups" in all_of(browser, "#crumbs")[0].text
    canvas = all_of(browser, "#canvas")[0]
    ActionChains(browser).move_to_element_with_offset(canvas, *browser.execute_script(GROUP)).click().perform()
    crumbs = all_of(browser, "#crumbs")[0].text
    assert crumbs.startswith("Groups")
    assert "communities" in crumbs
    click(browser, "#details .chip")
    click(browser, "#details .more")
    assert "Community" in all_of(browser, "#crumbs")[0].text
    click(browser, "#crumbs button")
    assert "All communities" in all_of(browser, "#crumbs")[0].text
    assert browser.get_log("browser") == []
