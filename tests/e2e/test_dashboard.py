"""The page of qad in a real Chromium: what it shows, how it changes, and what it must never do."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import pytest

import npm
import wire
from conftest import BUILD, DEADLINE, REPO, clean_environment, end_process, wait_until
from http_reader import address_of, get

pytestmark = pytest.mark.plain_only

SHOTS = BUILD / "screenshots"
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\x1b[31m\x07\u202e\n'


class Browser:
    """Chromium with one page; see tests/browser/drive.mjs."""

    def __init__(self, process):
        self.process = process
        self.base = None
        self.expected = []  # complaints that the test itself provokes

    def line(self):
        text = self.process.stdout.readline()
        assert text, "the browser is gone"
        return json.loads(text)

    def do(self, command, **parameters):
        self.process.stdin.write(json.dumps({"command": command, **parameters}) + "\n")
        self.process.stdin.flush()
        answer = self.line()
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def open(self, base, path="", **look):
        self.base = base
        return self.do("open", url=base + path, **look)

    def run(self, script):
        return self.do("run", script=script)

    def until(self, script, what=None):
        return wait_until(lambda: self.run(script), what=what or script)

    def press(self, *keys):
        for key in keys:
            self.do("press", key=key)

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)})?.textContent")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")

    def tile(self, name):
        return self.text(f"[data-tile={name}] .tile-value")

    def exact(self, selector):
        """The number in a title: "1,234 bytes"."""
        title = self.run(f"document.querySelector({json.dumps(selector)})?.title ?? ''")
        return int(re.sub(r"\D", "", title) or -1)

    def shot(self, name):
        SHOTS.mkdir(exist_ok=True)
        self.do("shot", path=str(SHOTS / f"{name}.png"))

    def check(self):
        """Nothing was complained of, nothing stopped by the policy, and nothing asked for but qad."""
        log = self.do("log")
        complaints = [text for text in log["console"] if not any(part in text for part in self.expected)]
        assert complaints == [] and log["errors"] == [] and log["violations"] == []
        assert log["requests"] and all(request.split()[1].startswith(self.base) for request in log["requests"])


@pytest.fixture(scope="module")
def chromium():
    """Started once for all tests here; each has a page of its own."""
    with tempfile.TemporaryDirectory(prefix="qa-chromium-") as profile:
        driver = npm.installed(REPO / "tests" / "browser") / "drive.mjs"
        process = subprocess.Popen(["node", driver, profile], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            made = Browser(process)
            made.line()
            yield made
            process.stdin.close()
            assert process.wait(DEADLINE) == 0
        finally:
            end_process(process)


@pytest.fixture
def browser(chromium):
    """The last argument of a test, so that it is looked at before what it shows is taken away."""
    chromium.expected = []
    yield chromium
    if chromium.base:
        chromium.check()
    chromium.base = None


def base_of(qad):
    return "http://{}:{}/".format(*address_of(qad))


@pytest.fixture
def web(qad_factory):
    """A qad with HTTP on a free port; it must end well."""
    qad = qad_factory().start("--http", "127.0.0.1:0")
    assert get(address_of(qad), "/").status == 200, "this build has no page: script/bootstrap, then meson setup --reconfigure"
    yield qad
    if qad.process.poll() is None:
        qad.stop()


@pytest.fixture
def doc(web, target, qactl):
    """A target that cached much and does nothing now."""
    process = target(QA_NAME="doc")
    process.ask("malloc 1 400000 64")
    process.ask("malloc 2 2000 5000")
    process.ask("free 1 1000")
    wait_until(lambda: qactl("stats", "doc").code == 0, what="the target in qad")
    return process


def open_process(browser, qad, pid, **look):
    assert browser.open(base_of(qad), f"#/process/{pid}", **look) == 200
    browser.until("document.querySelectorAll('tbody tr').length > 0", "the figures of the process")


def open_overview(browser, qad, rows, **look):
    assert browser.open(base_of(qad), **look) == 200
    browser.until(f"document.querySelectorAll('tbody tr').length === {rows}", f"{rows} processes")


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


# How it is used.


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
