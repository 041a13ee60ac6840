"""docs/PROTOCOL.md and the code have the same words: methods, params, keys, limits and error codes, in both directions."""

import os
import re
import subprocess

import pytest

import wire
from harness import BUILD, REPO
from programs import wait_for_target

pytestmark = pytest.mark.plain_only

DOCUMENT = (REPO / "docs" / "PROTOCOL.md").read_text()
TENTHS = ("tenth_pages", "tenth_out_bytes", "tenth_free_bytes")
WORD = re.compile(r"`([a-z][a-z0-9_]*)`")
# In backticks, and none of what is compared.
OTHER_WORDS = {"id", "method", "params", "error", "result", "code", "message", "held", "last", "qa_agent_stop"}


def read_tables(text):
    """(section, first cell of the title row) -> the words in the first column, of all tables of that section so titled."""
    tables, section, title = {}, None, None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if heading := re.match(r"##+ (.*)", line):
            section, title = heading[1], None
        elif not cells:
            title = None
        elif title is None:
            title = cells[0]
            tables.setdefault((section, title), [])
        elif not set(cells[0]) <= {"-"}:
            tables[section, title].append(cells)
    return tables


TABLES = read_tables(DOCUMENT)


def words(section, title, column=0):
    found = [word for cells in TABLES.get((section, title), []) for word in WORD.findall(cells[column])]
    assert len(found) == len(set(found)), f"twice in {section}: {found}"
    return set(found)


def keys(section):
    return words(section, "key")


TYPES = {"integer": int, "string": str, "strings": str, "bool": bool, "array": list, "arrays": list, "ten": list, "as": None}


def types(section, title="key"):
    """word -> its type, or None where the table does not tell it; what has none in a table of keys is an integer."""
    found = {}
    for cells in TABLES[section, title]:
        first = re.match(r"\w*", cells[1])[0]
        kind = TYPES.get(first, int if title == "key" else None)
        found.update(dict.fromkeys(WORD.findall(cells[0]), kind))
    return found


def assert_is(answer, *parts, without=()):
    """It has just these keys, and values of their types."""
    expected = {word: kind for part in parts for word, kind in part.items() if word not in without}
    assert set(answer) == set(expected)
    assert {word: type(answer[word]) for word, kind in expected.items() if kind} == {
        word: kind for word, kind in expected.items() if kind}


def sources(*folders, without="http"):
    return "\n".join(path.read_text() for folder in folders for path in sorted((REPO / folder).rglob("*.c"))
                     if not path.name.startswith(without))


def found_in(text, pattern):
    return set(re.findall(pattern, text, re.DOTALL))


# What is written in the code


def test_methods_are_those_of_the_code():
    session = (REPO / "qad" / "session.c").read_text()
    of_clients = found_in(session[session.index("methods[] = {"):], r'\{"(\w+)", method_')
    of_targets = found_in((REPO / "libqa" / "agent_answer.c").read_text(), r'strcmp\(request->method, "(\w+)"\)')
    told = found_in(sources("qad"), r'qp_write_notification\([^;"]*"(\w+)"')
    asked = found_in(sources("qad"), r'qp_write_request\([^;"]*"(\w+)"')
    assert len(of_clients) > 5 and len(told) == 2 and asked == of_targets
    headings = DOCUMENT.split("\n## ")
    part = {text.split("\n")[0]: re.findall(r"^### (\w+)(?:, of a target)?$", text, re.MULTILINE) for text in headings}
    assert sorted(part["What a client may ask"]) == sorted(of_clients)
    assert sorted(part["What qad tells a client"]) == sorted(told)
    assert sorted(part["What qad asks a target"]) == sorted(of_targets)


READ = r'qp_read_\w+\((?:&reader|params), "(\w+)"'


def test_params_are_those_that_the_code_reads():
    for section in ("ps", "stats", "map", "trim", "history"):
        assert words(section, "param") == found_in((REPO / "qad" / f"method_{section}.c").read_text(), READ), section
    watching = found_in((REPO / "qad" / "method_watch.c").read_text(), READ)
    assert words("watch", "param") | words("unwatch", "param") == watching
    session = (REPO / "qad" / "session.c").read_text()
    assert words("hello", "param") == found_in(session, READ)
    of_target = set().union(*(words(f"{method}, of a target", "param") for method in ("stats", "map", "trim")))
    assert of_target == found_in((REPO / "libqa" / "agent_answer.c").read_text(), READ)


def codes_of_code():
    calls = r'(?:send_error|refuse_hello|qp_write_error|qp_write_error_begin)\([^;"]*"(\w+)",'
    table = (REPO / "qad" / "method_common.c").read_text()
    return (found_in(sources("qad", "libqa"), calls) | found_in(table, r'\[ANSWER_\w+\] = \{"(\w+)"')
            | found_in(sources("qad"), r'end_watch\(\w+, "(\w+)"'))


def test_error_codes_are_those_of_the_code():
    documented = words("Errors", "code")
    assert documented == codes_of_code() and len(documented) > 8
    methods = DOCUMENT[DOCUMENT.index("## hello"):DOCUMENT.index("## Keys")]
    assert documented <= set(WORD.findall(methods)), "each code is said with the method that gives it"


def test_exit_statuses_are_those_of_qactl():
    table = (REPO / "qactl" / "answer.c").read_text()
    of_qactl = {code: getattr(os, name) for code, name in found_in(table, r'\{"(\w+)", (EX_\w+),')}
    documented = {WORD.search(cells[0])[1]: int(cells[2]) for cells in TABLES["Errors", "code"]}
    assert documented == {**dict.fromkeys(documented, os.EX_PROTOCOL), **of_qactl}


def number_of(text):
    value, unit = re.fullmatch(r"([\d,]+)(?: (\w+))?", text).groups()
    return int(value.replace(",", "")) * {None: 1, "KiB": 1 << 10, "MiB": 1 << 20, "ms": 1, "s": 1000}[unit]


def test_limits_are_those_of_qad():
    done = subprocess.run([BUILD / "qad" / "qad", "--limit", "help"], capture_output=True, text=True, timeout=60)
    defaults = {row.split()[0]: int(row.split()[1]) for row in done.stdout.splitlines()[1:]}
    documented = {WORD.fullmatch(name)[1]: number_of(value)
                  for cells in TABLES["Limits", "limit"] if len(cells) == 3 for _, name, value in [cells]}
    assert documented == {name: value for name, value in defaults.items() if not name.startswith("http_")}
    limits = DOCUMENT[DOCUMENT.index("### Limits"):DOCUMENT.index("## hello")]
    assert set(WORD.findall(limits)) >= set(defaults)


# What is said


def answer_all(target):
    number, method, params = target.question()
    if method == "stats":
        answer = wire.stats_of(params)
        assert set(params) == words("stats, of a target", "param")
        assert set(answer) - {"classes"} == keys("Totals") - {"age_ms"}
    elif method == "map":
        row = {"block_size": 24, "name": "", "pages": 1, "empty_pages": 0, **{key: [0] * 10 for key in TENTHS}}
        answer = {"page_size": 65_536, "classes": [row]}
    else:
        answer = wire.trim_of()
        assert set(answer) == keys("A done trim") - {"pid", "command", "name", "rss_before_bytes", "rss_after_bytes"}
    target.answer(number, answer)


@pytest.fixture
def ask(client, fake):
    target = fake(name="doc")
    wait_for_target(client, target.pid)

    def with_answer(method, questions=1, **params):
        number = client.ask(method, params)
        for _ in range(questions):
            answer_all(target)
        return client.answer_to(number)

    with_answer.target = target
    return with_answer


def test_results_have_the_keys_of_the_document(client, ask):
    pid, target, totals = ask.target.pid, types("A target"), types("Totals")
    assert_is(ask.target.hello, types("hello", "result"))
    answer = ask("ps")
    assert_is(answer, types("ps", "result"))
    assert_is(answer["targets"][0], target, totals)
    assert_is(ask("ps", 0, figures=False)["targets"][0], target)
    answer = ask("stats", pid=pid)
    assert_is(answer, target, totals, types("stats", "result"))
    assert_is(answer["classes"][0], types("A class"))
    answer = ask("map", pid=pid)
    assert_is(answer, target, types("map", "result"))
    assert_is(answer["classes"][0], types("A map's row"))
    assert_is(ask("trim", pid=pid), types("A done trim"))
    answer = ask("trim", all=True)
    assert_is(answer, types("trim", "result"))
    assert_is(answer["targets"][0], types("A done trim"))
    answer = ask("history", 0, pid=pid)
    assert_is(answer, types("history", "result"))
    assert_is(answer["trims"][0], types("A recorded trim"))
    assert set(ask("health", 0)) == words("health", "result")


def test_notifications_have_the_keys_of_the_document(client, ask):
    answer = ask("watch", 0, pid=ask.target.pid, interval_ms=86_400_000, classes=True)
    assert_is(answer, types("watch", "result"))
    answer_all(ask.target)
    _, method, params = client.receive()
    (row,) = params["targets"]
    assert method == "figures"
    assert_is(params, types("figures", "param"))
    assert_is(row, types("A target"), types("Totals"), {"classes": list}, without=("cgroup", "exe"))
    assert_is(row["classes"][0], types("A class"))
    other = client.call("watch", interval_ms=86_400_000)["watch"]
    client.receive()
    assert_is(client.call("unwatch", watch=other), types("unwatch", "result"))
    ask.target.end()
    while method != "unwatched":
        _, method, params = client.receive()
    assert_is(params, types("unwatched", "param"))


OF_TYPE = {"integer": 1 << 30, "bool": True, "string": "x"}


def params_of(method):
    """(name, type, whether it is required) of each param in the table of that method."""
    for name, what, *_ in TABLES.get((method, "param"), []):
        yield WORD.fullmatch(name)[1], what.split(",")[0], "required" in what


@pytest.mark.parametrize("method", ["ps", "stats", "map", "trim", "watch", "unwatch", "history"])
def test_params_have_the_types_of_the_document(client, method):
    required = {name: OF_TYPE[kind] for name, kind, is_required in params_of(method) if is_required}
    missing = {"trim": {"pid": 1 << 30}}.get(method, {})  # required unless there is another one
    for name, kind, is_required in params_of(method):
        for value in (None, -1, 1.0, b"x", [], {}, *(good for one, good in OF_TYPE.items() if one != kind)):
            assert client.error_of(method, {**missing, **required, name: value}) == "bad_request", (name, value)
        if is_required:
            assert client.error_of(method, {key: value for key, value in required.items() if key != name}) == "bad_request"
        # One of its type may be out of range, no more.
        error = error_after(client, method, {**missing, **required, name: OF_TYPE[kind]})
        assert "of the wrong type" not in error.get("message", ""), (name, error)
    # Without the optional ones the request is good: only what it asks about may be missing.
    error = error_after(client, method, {**missing, **required})
    assert error.get("code") in (None, "no_target", "no_watch")


def error_after(client, method, params):
    """The error of that request, or {}; notifications may come before it."""
    number = client.ask(method, params)
    while True:
        kind, *rest = client.receive()
        if kind == wire.RESPONSE and rest[0] == number:
            return rest[1] or {}


@pytest.mark.parametrize("leave_out", [None, "protocol", "role"])
def test_hello_has_the_params_of_the_document(qad, leave_out):
    good = {"protocol": 1, "role": "client"}
    required = {name for name, _, is_required in params_of("hello") if is_required}
    assert required == set(good)
    for name, kind, _ in params_of("hello") if not leave_out else [(leave_out, None, None)]:
        wrong = "x" if kind == "integer" else 7
        params = {key: value for key, value in {**good, name: wrong}.items() if key != leave_out}
        assert wire.connect(qad.socket_path).error_of("hello", params) == "bad_request", name


# And the other way round


def test_the_document_speaks_of_nothing_else():
    known = set().union(*(words(*table) for table in TABLES if table[0] != "Limits"))
    known |= {word for cells in TABLES["Limits", "limit"] for cell in cells for word in WORD.findall(cell)}
    known |= set(re.findall(r"^###? (\w+)", DOCUMENT, re.MULTILINE)) | OTHER_WORDS
    known |= found_in((REPO / "qad" / "limit.c").read_text(), r"ROW\((\w+),")
    assert set(WORD.findall(DOCUMENT)) - known == set()
