"""The page of qad in a real Chromium, with what its tests start from."""

import json
import re
import subprocess
import tempfile

import pytest

import npm
from harness import BUILD, DEADLINE, REPO, end_process, wait_until
from http_reader import address_of, get

SHOTS = BUILD / "screenshots"


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
