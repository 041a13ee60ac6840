"""The scripts that judge and prepare: what did not run has not passed, and what is there is not installed again."""

import os
import shutil
import subprocess

import pytest

from harness import REPO, clean_environment

LOCK = "qad/dashboard/package-lock.json"
FETCHED = "qad/dashboard/node_modules/.fetched-lock.json"
CASE = '<testcase classname="c" name="{}">{}</testcase>'


def count(folder, steps):
    path = folder / "steps"
    path.write_text("".join(f"{name}\t{code}\t{junit}\t1.0\t0.5\n" for name, code, junit in steps))
    done = subprocess.run(["/usr/bin/python3", REPO / "script" / "count_results.py", path], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()[-1]


def junit(folder, *cases):
    path = folder / "junit.xml"
    path.write_text("<testsuites><testsuite>" + "".join(cases) + "</testsuite></testsuites>")
    return path


def test_cases_and_steps_are_summed(tmp_path):
    path = junit(tmp_path, CASE.format("a", ""), CASE.format("b", ""))
    assert count(tmp_path, [("unit", 0, path), ("format", 0, "")]) == (0, "3 passed, 0 failed")


def test_failed_cases_and_steps_count(tmp_path):
    path = junit(tmp_path, CASE.format("a", ""), CASE.format("b", "<failure/>"), CASE.format("c", "<error/>"))
    assert count(tmp_path, [("unit", 1, path), ("format", 1, "")]) == (1, "1 passed, 3 failed")


@pytest.mark.parametrize("content", [None, "", "<not xml"])
def test_a_suite_that_wrote_no_results_has_failed(tmp_path, content):
    path = tmp_path / "junit.xml"
    if content is not None:
        path.write_text(content)
    assert count(tmp_path, [("unit", 0, path), ("format", 0, "")]) == (1, "1 passed, 1 failed")


def test_a_suite_that_crashed_after_its_last_case_has_failed(tmp_path):
    assert count(tmp_path, [("unit", 139, junit(tmp_path, CASE.format("a", "")))]) == (1, "1 passed, 1 failed")


def test_a_suite_without_a_case_has_failed(tmp_path):
    skipped = CASE.format("a", "<skipped/>")
    assert count(tmp_path, [("unit", 0, junit(tmp_path, skipped))]) == (1, "0 passed, 1 failed")


def test_nothing_at_all_is_a_failure(tmp_path):
    assert count(tmp_path, []) == (1, "0 passed, 0 failed")


def stub(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def bootstrap(folder, *arguments):
    return subprocess.run([folder / "script" / "bootstrap", *arguments], capture_output=True, text=True, cwd=folder,
                          env=clean_environment(PATH=f"{folder}:{os.environ['PATH']}"))


@pytest.fixture
def stubs(tmp_path):
    """A checkout with nothing but what bootstrap needs of it, where the page's files have been fetched, so that no network is
    asked; dpkg-query that knows all but what is in the file missing; apt-get and sudo that only note how they were called."""
    for name, place in (("script/bootstrap", "script/bootstrap"), (LOCK, LOCK), (LOCK, FETCHED)):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, tmp_path / place)
    (tmp_path / "missing").write_text("")
    stub(tmp_path, "dpkg-query", f'for name; do :; done\ngrep -qx "$name" {tmp_path}/missing && exit 1\nprintf installed\n')
    stub(tmp_path, "apt-get", f'echo "$@" >>{tmp_path}/calls\n')
    stub(tmp_path, "sudo", 'exec "$@"\n')
    return tmp_path


def test_bootstrap_installs_nothing_when_nothing_is_missing(stubs):
    done = bootstrap(stubs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (stubs / "calls").exists()


def test_bootstrap_installs_only_what_is_missing(stubs):
    (stubs / "missing").write_text("scdoc\nclang\n")
    assert bootstrap(stubs).returncode == 0
    update, install = (stubs / "calls").read_text().splitlines()
    assert update.endswith("update") and install.endswith("install scdoc clang")


def test_bootstrap_for_building_does_not_want_what_only_tests_need(stubs):
    (stubs / "missing").write_text("clang\n")
    assert bootstrap(stubs, "--build").returncode == 0
    assert not (stubs / "calls").exists()


def test_bootstrap_check_says_what_is_missing(stubs):
    (stubs / "missing").write_text("scdoc\n")
    done = bootstrap(stubs, "--check")
    assert (done.returncode, done.stdout) == (1, "scdoc\n") and not (stubs / "calls").exists()


def test_bootstrap_tries_again_and_then_says_what_it_could_not(stubs):
    (stubs / "missing").write_text("scdoc\n")
    stub(stubs, "apt-get", f'echo "$@" >>{stubs}/calls\nexit 100\n')
    done = bootstrap(stubs)
    assert done.returncode == 1 and "could not install: scdoc" in done.stderr
    assert len((stubs / "calls").read_text().splitlines()) == 3


@pytest.fixture
def page(stubs):
    """The page's files were not fetched, and npm only notes its calls."""
    shutil.rmtree((stubs / FETCHED).parent)
    stub(stubs, "npm", f'echo "$@" >>{stubs}/npm-calls\nmkdir -p node_modules\n')
    return stubs


def test_bootstrap_fetches_the_page_once(page):
    assert (bootstrap(page, "--check").returncode, bootstrap(page, "--check").stdout) == (1, "qad/dashboard/node_modules\n")
    for option in ("--build", "--build", "--check"):
        assert bootstrap(page, option).returncode == 0
    assert [line.split()[0] for line in (page / "npm-calls").read_text().splitlines()] == ["ci"]
    (page / LOCK).write_text("another")
    assert bootstrap(page).returncode == 0 and len((page / "npm-calls").read_text().splitlines()) == 2


def test_bootstrap_goes_on_without_the_page(page):
    stub(page, "npm", "exit 1\n")
    done = bootstrap(page)
    assert done.returncode == 0 and "qad will have no page" in done.stderr


@pytest.mark.parametrize("script", ["bootstrap", "compat", "demo", "test", "format"])
def test_a_wrong_argument_is_a_usage_error(script):
    done = subprocess.run([REPO / "script" / script, "--surprise"], capture_output=True, text=True)
    assert done.returncode == 64 and "usage:" in done.stderr


@pytest.mark.parametrize("script", ["bootstrap", "compat", "demo", "test", "format", "tidy"])
def test_each_tells_its_usage_when_asked(script):
    done = subprocess.run([REPO / "script" / script, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "usage:" in done.stdout and done.stderr == ""
