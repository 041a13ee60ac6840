"""The page of qad in a real Chromium: what it shows, how it changes, and what it must never do."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

import wire
from harness import REPO, end_process, wait_until
from http_reader import address_of, get
from page import base_of, browser, chromium, doc, open_overview, open_process, web  # noqa: F401, fixtures

pytestmark = pytest.mark.plain_only

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\x1b[31m\x07\u202e\n'


# What it shows.


def test_the_numbers_are_those_of_qactl(web, doc, stats, browser):
    figures = stats(doc.pid)
    open_process(browser, web, doc.pid)
    for key in ("used", "cached", "held"):
        assert browser.exact(f"[data-tile={key}] .tile-value") == figures[f"{key}_bytes"], key
        assert browser.tile(key) == f"{figures[f'{key}_bytes'] / 2**20:.1f} MiB", key
    rows = browser.run("""[...document.querySelector("#classes").closest("section").querySelectorAll("tbody tr")].map((row) =>
        [...row.cells].map((cell) => cell.title ? Number(cell.title.replace(/[^0-9]/g, "")) : cell.textContent))""")
    shown = {row[0]: tuple(row[3:6]) for row in rows}
    assert shown == {"large" if row["block_size"] == 0 else f"{row['block_size']:,}":
                     (row["held_bytes"], row["used_bytes"], row["cached_bytes"]) for row in figures["classes"]}
    tenths = [sum(row["tenth_pages"][i] for row in get(address_of(web), f"/api/v1/targets/{doc.pid}/map").json["classes"])
              for i in range(10)]
    browser.until("document.querySelectorAll('.tenth-value')[9].textContent !== ''", "the pages")
    assert [int(text.replace(",", "")) for text in browser.texts(".tenth-value")] == tenths
    assert browser.run("document.title") == "qad: doc (target)"


def test_the_sums_are_those_of_all(web, target, qactl, browser):
    for count in (1000, 2000, 3000):
        target(QA_NAME=f"n{count}").ask(f"malloc 1 {count} 1024")
    wait_until(lambda: len(qactl("ps", "--json").json) == 3, what="three targets")
    rows = qactl("ps", "--json").json
    open_overview(browser, web, 3)
    for key in ("used", "cached", "held"):
        assert browser.exact(f"[data-tile={key}] .tile-value") == sum(row[f"{key}_bytes"] for row in rows), key
    assert browser.tile("processes") == "3"
    browser.do("click", selector="thead th:nth-child(6) button")
    assert browser.texts("tbody th") == ["n3000 (target)", "n2000 (target)", "n1000 (target)"]
    assert browser.run("document.querySelector('th[aria-sort]').ariaSort") == "descending"
    browser.do("click", selector="thead th:nth-child(6) button")
    assert browser.texts("tbody th")[0] == "n1000 (target)"


def legend(browser):
    return browser.run("""Object.fromEntries([...document.querySelectorAll(".legend-item")].map((item) =>
        [item.children[1].textContent, Number(item.children[2].title.replace(/[^0-9]/g, ""))]))""")


def test_a_trim_is_a_step_and_an_event(web, doc, qactl, stats, browser):
    open_process(browser, web, doc.pid)
    before = stats(doc.pid)["cached_bytes"]
    browser.until("document.querySelector('.legend-item:nth-child(1) .legend-value').title !== ''", "a point on the chart")
    client = wire.client(web.socket_path)
    # The newest point is still that of its second: a trim in it would be all that the point shows.
    wait_until(lambda: client.call("history", pid=doc.pid)["points"] >= 2, what="a point that stays")
    client.close()
    trim = qactl("trim", doc.pid, "--json").json
    browser.until("document.querySelector('.trims tbody tr') !== null", "the trim in its table")
    returned = browser.exact(".trims tbody td:nth-child(3)")
    assert returned == (trim[0] if isinstance(trim, list) else trim)["returned_bytes"] > before / 2
    cached = "thread partial empty slack".split()
    wait_until(lambda: sum(legend(browser)[key] for key in cached) < before / 2, what="the step at the end of the chart")
    browser.run("document.querySelector('.chart-frame').focus()")
    browser.press("Home")
    start = legend(browser)
    assert sum(start[key] for key in cached) == pytest.approx(before, rel=0.001)
    assert re.search(r"^\d\d:\d\d:\d\d", browser.text(".legend-when"))
    assert all(f"{label} " in browser.text("[aria-live]") for label in start)
    for _ in range(60):
        if "trim, " in browser.text(".legend-when"):
            break
        browser.press("ArrowRight")
    assert "returned" in browser.text(".legend-when")


def test_many_processes_change_only_what_differs(web, browser):
    many = subprocess.Popen([sys.executable, REPO / "tests" / "e2e" / "many_targets.py", web.socket_path, "500"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        pids = [int(pid) for pid in many.stdout.readline().split()]
        path = "/api/v1/targets"
        wait_until(lambda: sum("used_bytes" in one for one in get(address_of(web), path).json["targets"]) == 500,
                   what="figures of 500 targets")
        open_overview(browser, web, 250)
        assert browser.tile("processes") == "500" and browser.texts("tbody th")[:2] == ["many-499 (python3)", "many-498 (python3)"]
        browser.do("click", selector=".more")
        browser.until("document.querySelectorAll('tbody tr').length === 500")
        browser.run("window.watchNodes('tbody'); window.firstRow = document.querySelector('tbody tr')")
        changes = count_refreshes(browser, 2)
        assert changes["added"] == changes["removed"] == 0
        assert changes["changed"] < 4 * 500  # three uptimes a row, at most, and hardly anything else
        os.kill(pids[7], signal.SIGUSR1)
        browser.until("document.querySelector('tbody tr a[href$=\"/%d\"]').closest('tr').cells[5].textContent === '25.5 MiB'" % pids[7])
        changes = count_refreshes(browser, 1)
        assert changes["added"] == changes["removed"] == 0 and 0 < changes["changed"]
        assert browser.run("window.firstRow === document.querySelector('tbody tr')")
        browser.press("/")
        browser.do("type", text="MANY-499")
        assert browser.texts("tbody th") == ["many-499 (python3)"] and browser.text(".counted") == "1 of 500"
    finally:
        end_process(many)


def count_refreshes(browser, number):
    """What changed in the table while so many more refreshes were made."""
    asked = "performance.getEntriesByType('resource').filter((one) => one.name.includes('/history')).length"
    now = browser.run(asked)
    browser.until(f"{asked} >= {now + number}", "refreshes")
    browser.until("new Promise((done) => requestAnimationFrame(() => done(true)))")
    return browser.run("window.seenNodes")


# The modules by themselves.


def test_figures_are_written_as_by_qactl(web, browser):
    browser.open(base_of(web))
    numbers = {0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1_048_524: "1023.9 KiB", 1_048_525: "1.0 MiB", 3 * 2**39: "1.5 TiB",
               2**63: "8.0 EiB"}
    percents = {(0, 0): "-", (0, 9): "0.0 %", (1, 99_999): "0.1 %", (99_998, 99_999): "99.9 %", (9, 9): "100.0 %", (1, 3): "33.3 %"}
    asked = json.dumps([list(numbers), list(percents)])
    script = f"""import("/page/format.js").then((format) => {{
        const [numbers, percents] = {asked};
        return [numbers.map(format.bytes), percents.map(([part, whole]) => format.percent(part, whole))];
    }})"""
    assert browser.run(script) == [list(numbers.values()), list(percents.values())]


def test_answers_of_a_history_are_joined(web, browser):
    """Overlapping ones, one that begins later, a second that nobody saw, a gap, and another qad's that begins earlier."""
    browser.open(base_of(web))
    joined = browser.run("""import("/page/record.js").then(({ createRecord, RANGES }) => {
        const keys = ["held", "used", "cached", "thread", "partial", "empty", "slack", "rss"].map((key) => `${key}_bytes`);
        const record = createRecord();
        const add = (first_point, values) => record.add({ points: values.length, first_point, first_time_s: 1000 + first_point,
            trims: [], ...Object.fromEntries(keys.map((key) => [key, values])) });
        const shown = () => {
            const columns = record.columns(RANGES[0]);
            return [columns.times[0], columns.used_bytes];
        };

        add(100, [1, 2, 3]);
        add(102, [4, null, 5]);
        const first = shown();
        add(110, [6]);
        const later = shown();
        add(50, [7, 8]);
        return [first, later, shown()];
    })""")
    assert joined == [[1100, [1, 2, 4, 4, 5]], [1100, [1, 2, 4, 4, 5, None, None, None, None, None, 6]], [1050, [7, 8]]]


# What comes and goes.


def test_qad_goes_and_comes_back(web, doc, browser):
    address = address_of(web)
    open_process(browser, web, doc.pid)
    browser.until("document.querySelector('[data-state-text]').textContent === 'live'")
    used = browser.tile("used")
    browser.expected = ["Failed to load resource"]
    web.kill()
    browser.until("!document.querySelector('[data-banner]').hidden", "the banner")
    assert "qad is gone" in browser.text("[data-banner]") and browser.text("[data-state-text]") == "qad is gone"
    assert browser.tile("used") == used  # what was known stays
    browser.shot("gone")
    web.start("--http", f"{address[0]}:{address[1]}")
    browser.until("document.querySelector('[data-banner]').hidden", "no banner")
    browser.until("document.querySelector('.notice').hidden", "the process, when it has found qad again")
    assert browser.tile("used") == used


def test_a_process_ends(web, doc, browser):
    open_process(browser, web, doc.pid)
    browser.until("document.querySelector('[data-tile=used] .tile-value').textContent !== ''")
    used = browser.tile("used")
    browser.expected = ["404"]
    doc.quit()
    browser.until("!document.querySelector('.notice').hidden", "that it has ended")
    assert "has ended" in browser.text(".notice") and browser.tile("used") == used
    browser.press("Escape")
    browser.until("document.querySelector('p.empty:not([hidden])')?.textContent.startsWith('No process runs')")


def test_addresses_of_nothing(web, browser):
    browser.expected = ["404"]
    browser.open(base_of(web), "#/process/1")
    browser.until("document.querySelector('.notice')?.textContent.startsWith('There is no process 1 ')")
    browser.run("location.hash = '#/nothing'")
    browser.until("document.querySelector('h1').textContent === 'There is no such page'")


# What it must never do.


def test_names_are_inert(web, browser):
    target = wire.ServingTarget(web.socket_path, name=HOSTILE[:64])
    try:
        open_overview(browser, web, 1)
        name = browser.text("tbody th")
        assert name.startswith('<img src=x onerror="window.hacked=1"><script>') and "\x1b" not in name and "\u202e" not in name
        open_process(browser, web, target.pid)
        browser.until("document.querySelector('h1').textContent.startsWith('<img')")
        assert browser.run("document.querySelectorAll('main img, main script').length + (window.hacked ?? 0)") == 0
    finally:
        target.end()
    target = wire.ServingTarget(web.socket_path, name="a\x1b[31m\x07\u202e\nb\\c")
    try:
        open_overview(browser, web, 1)
        assert browser.text("tbody th").startswith("a\\x1b[31m\\x07\\u{202e}\\nb\\\\c (")
    finally:
        target.end()


def test_another_name_of_this_host_is_refused(web, browser):
    """DNS rebinding: a page of another site can make its name mean 127.0.0.1, and the browser then asks us."""
    browser.expected = ["403"]
    assert browser.open(base_of(web).replace("127.0.0.1", "evil.example")) == 403
    assert browser.run("document.querySelector('main')") is None


def test_nobody_looks_nothing_is_asked(web, doc, browser):
    open_process(browser, web, doc.pid)
    browser.until("document.querySelector('[data-state-text]').textContent === 'live'")
    browser.press("p")
    assert browser.text("[data-state-text]") == "paused" and browser.text("[data-pause]") == "Go on"
    client = wire.client(web.socket_path)
    health, used = client.call("health"), browser.exact("[data-tile=used] .tile-value")
    doc.ask("malloc 3 100 64")
    wait_until(lambda: client.call("health")["uptime_s"] >= health["uptime_s"] + 3, what="some seconds of qad")
    assert client.call("health")["questions"] == health["questions"]
    assert browser.exact("[data-tile=used] .tile-value") == used
    browser.press("p")
    wait_until(lambda: browser.exact("[data-tile=used] .tile-value") == used + 6_400, what="it to go on")
    client.close()
