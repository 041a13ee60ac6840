"""docs/HTTP.md and the man pages have the paths, parameters, codes and options of the code, and no others."""

import re
import subprocess

import pytest

from harness import BUILD, REPO

pytestmark = pytest.mark.plain_only

HTTP = (REPO / "docs" / "HTTP.md").read_text()
QAD = BUILD / "qad" / "qad"


def source(name):
    return (REPO / "qad" / name).read_text()


def rows(title):
    """The cells of the table below that title row."""
    lines = HTTP[HTTP.index(title):].splitlines()[2:]
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def test_the_api_is_that_of_the_code():
    text = source("http_route.c")
    names = {name: set(re.findall(r'"(\w+)"', words))
             for name, words in re.findall(r"char \*const (\w+)\[\] = \{(.*?)\}", text)}
    routes = {f"{method} {path}": names.get(parameters, set())
              for path, parameters, method in re.findall(r'\{"(/api/[^"]*)", (\w+), \w+, HTTP_(\w+)', text)}
    documented = {}
    for request, answer in rows("| request |"):
        parameters = re.search(r"parameters (.*?)(?:;|$)", answer)
        documented[request.strip("`")] = set(re.findall(r"`(\w+)`", parameters[1])) if parameters else set()
    # "the same of all targets together": also the same parameters
    documented["GET /api/v1/history"] = documented["GET /api/v1/targets/PID/history"]
    assert documented == routes and len(routes) == 7


def test_the_errors_are_those_of_the_code():
    listed = list(rows("| status |"))
    documented = {code for _, codes, _ in listed for code in re.findall(r"`(\w+)`", codes)}
    calls = r'http_(?:fail|make_error)\([^;"]*"(\w+)"'
    of_code = {code for path in (REPO / "qad").glob("http_*.c") if path.name not in ("http_page.c", "http_metrics.c")
               for code in re.findall(calls, path.read_text(), re.DOTALL)}
    of_code |= set(re.findall(r'return "(\w+)";', source("http_request.c")))
    of_code |= set(re.findall(r'\[ANSWER_\w+\] = \{"(\w+)"', source("method_common.c")))
    assert documented == of_code and len(documented) > 7
    assert {int(number) for status, _, _ in listed for number in status.split(",")} == {
        400, 401, 403, 404, 405, 413, 431, 502, 503, 504}


def options_of_help(text):
    return set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", text, re.MULTILINE))


def options_of_page(name):
    page = (REPO / "docs" / name).read_text()
    section = re.search(r"^# OPTIONS$(.*?)^# ", page, re.MULTILINE | re.DOTALL)[1]
    heads = re.findall(r"^\*-.*$", section, re.MULTILINE)
    return {option for head in heads for option in re.findall(r"\*(--[\w-]+)\*", head)}


def test_qad_man_page_has_the_options_of_the_help():
    done = subprocess.run([QAD, "--help"], capture_output=True, text=True, timeout=60)
    assert options_of_page("qad.8.scd") == options_of_help(done.stdout) and done.returncode == 0


def test_qactl_man_page_has_the_options_of_the_commands(qactl):
    texts = [qactl("--help").out, *(qactl("help", command).out for command in re.findall(
        r"^  (\w+) ", qactl("help").out, re.MULTILINE) if command != "help")]
    assert len(texts) > 10
    assert options_of_page("qactl.1.scd") == set().union(*map(options_of_help, texts))


def test_exit_statuses_of_qad_are_those_of_the_help():
    page = (REPO / "docs" / "qad.8.scd").read_text()
    section = re.search(r"^# EXIT STATUS$(.*?)^# ", page, re.MULTILINE | re.DOTALL)[1]
    text = subprocess.run([QAD, "--help"], capture_output=True, text=True, timeout=60).stdout
    assert set(re.findall(r"^\*(\d+)\*$", section, re.MULTILINE)) == set(re.findall(
        r"\b(\d+)\b", text[text.index("Exit status"):]))
