"""The page of qad in a real Chromium: how it is used, by keys and pointer, and how it looks."""

import json
import pathlib

import pytest

from harness import wait_until
from http_reader import address_of, get
from page import base_of, browser, chromium, doc, open_overview, open_process, web  # noqa: F401, fixtures

pytestmark = pytest.mark.plain_only


# Trims.


def test_a_trim_from_the_page(qad_factory, socket_dir, target, stats, browser):
    qad = qad_factory().start("--http", "127.0.0.1:0", "--http-allow-trim", "--http-token-file", str(socket_dir / "token"))
    process = target(QA_NAME="doc")
    process.ask("malloc 1 40000 64")
    process.ask("free 1")
    before = stats(process.pid)
    token = pathlib.Path(socket_dir / "token").read_text().strip()
    open_process(browser, qad, process.pid)
    browser.until("!document.querySelector('.trim').hidden", "the button")
    browser.expected = ["401"]
    browser.do("click", selector=".trim > button")
    browser.do("type", text="wrong")
    browser.press("Enter")
    browser.until("document.querySelector('.wrong')?.hidden === false", "that it was wrong")
    assert stats(process.pid)["held_bytes"] == before["held_bytes"]
    browser.do("type", text=token)
    browser.press("Enter")
    browser.until("document.querySelector('.trim-said').textContent.startsWith('Returned')")
    assert stats(process.pid)["held_bytes"] < before["held_bytes"]
    kept = browser.run("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert token not in kept
    browser.do("click", selector=".trim > button")  # a second one needs no question
    browser.until("document.querySelectorAll('.trims tbody tr').length === 2", "the second trim")
    qad.stop()


def test_no_trim_without_leave(web, doc, browser):
    open_process(browser, web, doc.pid)
    browser.until("document.querySelector('[data-state-text]').textContent === 'live'")
    assert browser.run("document.querySelector('.trim').hidden")


# Keys and colours.


def test_keys(web, target, qactl, browser):
    for name in ("one", "two"):
        target(QA_NAME=name).ask("malloc 1 1000 64")
    open_overview(browser, web, 2)
    browser.press("?")
    assert browser.run("document.querySelector('[data-keys]').open")
    browser.press("Escape", "/")
    assert browser.run("document.activeElement.id") == "filter"
    browser.do("type", text="two")
    assert browser.texts("tbody th") == ["two (target)"]
    browser.press("Escape")
    assert len(browser.texts("tbody th")) == 2
    browser.press("ArrowDown", "ArrowDown", "ArrowUp", "End", "Home")
    first = browser.texts("tbody th")[0]
    assert browser.run("document.activeElement.textContent") == first
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("Enter")
    browser.until(f"document.querySelector('h1').textContent === {json.dumps(first)}")
    assert browser.run("document.activeElement === document.querySelector('h1')")
    browser.press("Escape")
    browser.until("document.querySelector('h1').textContent === 'All processes'")


def test_the_focus_stays_with_a_row_that_moves(web, target, qactl, browser):
    small, large, larger = target(QA_NAME="small"), target(QA_NAME="large"), target(QA_NAME="larger")
    for process, count in ((small, 1000), (large, 50_000), (larger, 90_000)):
        process.ask(f"malloc 1 {count} 64")
        process.ask("free 1")
    open_overview(browser, web, 3)
    assert browser.texts("tbody th") == ["larger (target)", "large (target)", "small (target)"]
    browser.run("document.querySelector('tbody tr:last-child a').focus()")
    small.ask("malloc 2 200000 64")
    small.ask("free 2")
    browser.until("document.querySelector('tbody th').textContent === 'small (target)'", "another order")
    assert browser.run("document.activeElement.textContent") == "small (target)"


def test_every_control_can_be_reached_by_tab(web, doc, browser):
    open_overview(browser, web, 1)
    count = browser.run("document.querySelectorAll('a[href], button:not([hidden]), input, [tabindex=\"0\"]').length")
    seen = set()
    browser.run("document.activeElement.blur()")
    for _ in range(count):
        browser.press("Tab")
        seen.add(browser.run("document.activeElement.textContent.trim() || document.activeElement.id || document.activeElement.value"))
        assert browser.run("document.activeElement.matches(':focus-visible') || document.activeElement === document.body")
    assert {"Pause", "Theme: auto", "Keys", "filter", "doc (target)", "Cached", "5m"} <= seen


def test_the_theme_is_the_system_s_or_the_chosen_one(web, browser):
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(base_of(web), scheme="dark")
    dark = browser.run(background)
    browser.do("look", scheme="light")
    light = browser.run(background)
    assert dark != light
    browser.do("click", selector="[data-theme-button]")
    browser.do("click", selector="[data-theme-button]")
    assert browser.text("[data-theme-button]") == "Theme: dark" and browser.run(background) == dark
    browser.open(base_of(web), scheme="light")
    assert browser.run(background) == dark
    browser.do("click", selector="[data-theme-button]")
    assert browser.text("[data-theme-button]") == "Theme: auto" and browser.run(background) == light


# How it looks.


LOOKS = [(1200, 900, "light", "light"), (1200, 900, "dark", "dark"), (360, 800, "light", "narrow"), (1920, 1080, "dark", "wide")]


@pytest.fixture
def scene(web, target, qactl):
    """Some targets with some seconds of history; the pid of the one that has most to show."""
    made = {name: target(QA_NAME=name) for name in ("import", "index", "web", "batch")}
    for number, process in enumerate(made.values()):
        process.ask(f"malloc 1 {400_000 >> number} 64")
        process.ask(f"alloc 2 {20_000 >> number} 200 8")
    address, pid = address_of(web), made["import"].pid
    wait_until(lambda: len(get(address, "/api/v1/targets").json["targets"]) == 4, what="four targets")

    def points():
        get(address, "/api/v1/targets")
        return get(address, f"/api/v1/targets/{pid}/history?from_s=100").json["points"]

    for steps, command in ((2, "free 1 50"), (3, "free 2 9"), (4, "malloc 3 40000 100")):
        wait_until(lambda: points() >= steps, what=f"{steps} points")
        for process in made.values():
            process.ask(command)
    qactl("trim", "import")
    wait_until(lambda: points() >= 6, what="points after the trim")
    return pid


def test_looks(web, scene, browser):
    """Pictures for people to look at; and what can be told of them without eyes."""
    open_overview(browser, web, 4)
    browser.until("document.querySelector('.legend-value').title !== ''", "the chart")
    for look in LOOKS:
        check_look(browser, "overview", *look)
    browser.run(f"location.hash = '#/process/{scene}'")
    browser.until("document.querySelector('.heat') && document.querySelector('.legend-value').title !== ''", "all of it")
    for width, height, scheme, name in LOOKS:
        check_look(browser, "process", width, max(height, 1400), scheme, name)


def check_look(browser, page, width, height, scheme, name):
    browser.do("look", width=width, height=height, scheme=scheme)
    browser.until("Math.abs(document.querySelector('.u-wrap').clientWidth - document.querySelector('.chart-frame').clientWidth) <= 1",
                  "the chart in its new size")
    if width == 1200:
        assert browser.do("axe") == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    browser.shot(f"{page}-{name}")
