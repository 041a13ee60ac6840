"""qactl's tables, JSON and names, and which targets it means; qad is a fake one here."""

import re
import unicodedata

import pytest

import fake_qad
from fake_qad import DOCVIEW, PARTS, ROWS, Error, fake, raising  # noqa: F401, a fixture

TARGET_KEYS = {"pid", "inner_pid", "uid", "command", "name", "exe", "cgroup", "version", "uptime_s", "silent", "age_ms",
               "rss_bytes"}
SUM_KEYS = {"held_bytes", "used_bytes", "cached_bytes", *PARTS}
TOTALS_KEYS = SUM_KEYS | {"page_size", "threads", "unreachable_bytes", "allocs", "frees"}
CLASS_KEYS = SUM_KEYS | {"block_size", "name", "pages", "used_blocks", "allocs", "frees"}
TRIM_KEYS = {"pid", "command", "name", "returned_bytes", "held_before_bytes", "held_after_bytes", "cached_before_bytes",
             "cached_after_bytes", "rss_before_bytes", "rss_after_bytes", "duration_us", "threads_skipped"}


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def table_of(text, first_title):
    """The lines of the table whose first title that is, checked to line up; as a list of dicts of title to cell."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == [first_title])
    titles = re.split(r" {2,}", lines[start].strip())
    rows = [re.split(r" {2,}", line.strip()) for line in lines[start + 1:]]
    left = {"USER", "STATE", "COMMAND", "POOL"}
    edges = {title: lines[start].index(title) + (0 if title in left else len(title)) for title in titles}
    for line, cells in zip(lines[start + 1:], rows):
        assert line == line.rstrip() and len(cells) in (len(titles), len(titles) - 1), line
        for title, cell in zip(titles, cells):
            offset = edges[title] if title in left else edges[title] - columns_of(cell)
            assert columns_of(line[:find_column(line, offset)]) == offset
            assert line[find_column(line, offset):].startswith(cell), (title, line)
    return [dict(zip(titles, cells)) for cells in rows]


def find_column(line, column):
    return next((i for i in range(len(line) + 1) if columns_of(line[:i]) == column), len(line))


# ps


def many(count=5):
    states = [fake_qad.totals(), fake_qad.totals(used=10**9, empty=7 * 10**9), {},
              {**fake_qad.totals(), "age_ms": 12_345}]
    for i in range(count):
        one = fake_qad.target(pid=1 + i * 7919 % 100_003, command=f"command{i}", name="label" * (i % 3),
                              uid=i % 2 * 65534, uptime_s=i**5 % 10**8, silent=i % 4 >= 2)
        yield {**one, **states[i % 4]}


def test_ps_lines_up(fake, qactl):
    fake(ps=lambda params: {"targets": list(many(40))})
    result = qactl("ps")
    assert (result.code, result.err) == (0, "")
    rows = table_of(result.out, "PID")
    assert [int(row["PID"]) for row in rows] == sorted(one["pid"] for one in many(40))
    assert list(rows[0]) == ["PID", "USER", "UPTIME", "HELD", "USED", "CACHED", "CACHED%", "RSS", "THREADS", "STATE",
                             "COMMAND"]
    by_pid = {int(row["PID"]): row for row in rows}
    assert by_pid[1] == {"PID": "1", "USER": "root", "UPTIME": "0s", "HELD": "90.9 KiB", "USED": "23.4 KiB",
                         "CACHED": "67.5 KiB", "CACHED%": "74.2", "RSS": "4.8 MiB", "THREADS": "1", "STATE": "ok",
                         "COMMAND": "command0"}
    silent = by_pid[1 + 2 * 7919]
    assert (silent["HELD"], silent["CACHED%"], silent["STATE"]) == ("-", "-", "silent")
    old = by_pid[1 + 3 * 7919]
    assert (old["HELD"], old["STATE"], old["USER"]) == ("90.9 KiB", "silent 12 s", "nobody")
    assert by_pid[1 + 7919]["COMMAND"] == "command1 (label)"


def test_ps_of_a_thousand(fake, qactl):
    fake(ps=lambda params: {"targets": list(many(1000))})
    assert len(table_of(qactl("ps").out, "PID")) == 1000
    assert len(qactl("ps", "--json").json) == 1000


def test_ps_json(fake, qactl):
    fakes = fake(ps=lambda params: {"targets": list(many(40))})
    listed = qactl("ps", "--json").json
    assert fakes.asked[-1] == ("ps", {"figures": True})
    for one, sent in zip(listed, sorted(many(40), key=lambda one: one["pid"])):
        assert set(one) == TARGET_KEYS | TOTALS_KEYS
        for key in one:
            assert one[key] == sent.get(key) and type(one[key]) is type(sent.get(key)), key
        if one["held_bytes"] is not None:
            assert one["held_bytes"] == one["used_bytes"] + sum(one[part] for part in PARTS)


def test_ps_without_targets(fake, qactl):
    fake(ps=lambda params: {"targets": []})
    result = qactl("ps")
    assert result.code == 0 and len(result.out.splitlines()) == 1 and "no targets" in result.err
    result = qactl("ps", "--json")
    assert (result.code, result.json, result.err) == (0, [], "")


# stats


STATS = """\
docview (editor), pid 4242, user root, up 1m15s, libqa 0.1.0, pages of 64.0 KiB
  held      181.8 KiB
  used       46.9 KiB
  cached    134.9 KiB  74.2 % of held: thread 2.0 KiB, partial 3.9 KiB, empty 128.0 KiB, slack 1.0 KiB
  rss         4.8 MiB  the whole process
  threads           1  with a cache

BLOCK  PAGES       HELD      USED     CACHED  CACHED%  BLOCKS USED
   24      2   90.9 KiB  23.4 KiB   67.5 KiB     74.2         1000
 4096      2   90.9 KiB  23.4 KiB   67.5 KiB     74.2            5
TOTAL      4  181.8 KiB  46.9 KiB  134.9 KiB     74.2         1005
"""


def test_stats_to_the_letter(fake, qactl):
    fake()
    assert qactl("stats", "4242").out == STATS


def test_stats_lines_up(fake, qactl):
    rows = [fake_qad.class_row(16, pages=1), fake_qad.class_row(1024, pages=123_456, used_blocks=10**9, used=10**12),
            fake_qad.class_row(2048, used=0), fake_qad.class_row(0, pages=0, used_blocks=3, used=15 * 2**20, thread=0,
                                                                partial=0, empty=0, slack=0)]
    fakes = fake(stats=lambda params: {**fake_qad.stats_of(DOCVIEW, rows), "unreachable_bytes": 700})
    result = qactl("stats", "editor")
    assert (result.code, result.err) == (0, "")
    assert fakes.asked[-2:] == [("ps", {"figures": False}), ("stats", {"pid": 4242, "all_classes": False})]
    table = table_of(result.out, "BLOCK")
    assert list(table[0]) == ["BLOCK", "PAGES", "HELD", "USED", "CACHED", "CACHED%", "BLOCKS USED"]
    assert [row["BLOCK"] for row in table] == ["16", "1024", "2048", "large", "TOTAL"]
    assert table[2]["CACHED%"] == "100.0" and table[3]["CACHED%"] == "0.0"
    assert table[3]["PAGES"] == "-" and table[3]["USED"] == "15.0 MiB" and table[3]["BLOCKS USED"] == "3"
    assert table[4]["PAGES"] == str(1 + 123_456 + 2) and table[4]["BLOCKS USED"] == str(1000 + 10**9 + 1000 + 3)
    for part in ("docview (editor), pid 4242, user root, up 1m15s, libqa 0.1.0, pages of 64.0 KiB", "thread 2.9 KiB",
                 "partial 5.9 KiB", "empty 192.0 KiB", "slack 1.6 KiB", "rss         4.8 MiB",
                 "700 B can not be trimmed"):
        assert part in result.out, result.out


def test_stats_of_named_pools_and_in_a_container(fake, qactl):
    rows = [fake_qad.class_row(24), fake_qad.class_row(24, name="fi\x07elds")]
    fake(stats=lambda params: {**fake_qad.stats_of(DOCVIEW, rows), "inner_pid": 7})
    result = qactl("stats", "4242")
    table = table_of(result.out, "BLOCK")
    assert [row.get("POOL") for row in table] == [None, r"fi\x07elds", None]
    assert "pid 7 in its container" in result.out and "unreachable" not in result.out


def test_doctor_does_not_call_it_well_when_a_pool_pins_much(fake, qactl):
    pinned = fake_qad.class_row(48, pages=367, used_blocks=5_000, name="session", used=240_000, partial=23_700_000, empty=0)
    fake(stats=lambda params: fake_qad.stats_of(DOCVIEW, [pinned]), history=lambda params: {"trims": []})
    result = qactl("doctor", "4242")
    assert result.code == 0 and "by 5000 blocks of 48 bytes of the pool session" in result.out, result
    assert "safe to try: qactl trim 4242." in result.out and "Nothing needs" not in result.out, result


def test_doctor_knows_that_freed_large_blocks_go_back(fake, qactl):
    large = fake_qad.class_row(0, pages=0, used_blocks=1, used=8 << 20, thread=0, partial=0, empty=12 << 20, slack=0)
    fake(stats=lambda params: fake_qad.stats_of(DOCVIEW, [large]), history=lambda params: {"trims": []})
    result = qactl("doctor", "4242")
    assert result.code == 0 and "A trim would return 12.0 MiB.\n" in result.out, result


def test_stats_json(fake, qactl):
    fakes = fake(stats=lambda params: {**fake_qad.stats_of(DOCVIEW, ROWS), "allocs": 2**63 + 5, "frees": 2**63 - 1})
    figures = qactl("stats", "4242", "--json", "--all-classes").json
    assert fakes.asked[-1] == ("stats", {"pid": 4242, "all_classes": True})
    assert set(figures) == TARGET_KEYS | TOTALS_KEYS | {"classes"}
    assert figures["allocs"] == figures["frees"] == 2**63 - 1
    assert figures["classes"] == ROWS and all(set(row) == CLASS_KEYS for row in figures["classes"])
    for row in [figures, *figures["classes"]]:
        assert row["held_bytes"] == row["used_bytes"] + row["cached_bytes"]
        assert row["cached_bytes"] == sum(row[part] for part in PARTS)


def test_a_target_that_does_not_answer_is_shown_as_it_was(fake, qactl):
    last = {**fake_qad.stats_of({**DOCVIEW, "silent": True}, ROWS), "age_ms": 61_000}
    fake(stats=raising(Error("timeout", last=last)))
    result = qactl("stats", "editor")
    assert result.code == 75 and "docview (editor), pid 4242: did not answer in time" in result.err
    assert "last known figures, 1m01s old" in result.out and len(table_of(result.out, "BLOCK")) == 3
    result = qactl("stats", "editor", "--json")
    assert result.code == 75 and "did not answer" in result.err
    assert (result.json["age_ms"], result.json["silent"], result.json["classes"]) == (61_000, True, ROWS)


@pytest.mark.parametrize("rows", [[], ROWS[:1]])
def test_old_figures_without_all_classes(fake, qactl, rows):
    last = {**fake_qad.stats_of(DOCVIEW, ROWS), "classes": rows, "age_ms": 5_000}
    fake(stats=raising(Error("timeout", last=last)))
    result = qactl("stats", "4242")
    table = table_of(result.out, "BLOCK")
    assert result.code == 75 and len(table) == len(rows) + 1 and "not all size classes are known" in result.out
    assert (table[-1]["PAGES"], table[-1]["HELD"], table[-1]["BLOCKS USED"]) == ("-", "181.8 KiB", "-")
    assert qactl("stats", "4242", "--json").json["classes"] == rows


def test_a_target_that_never_answered(fake, qactl):
    fake(stats=raising(Error("timeout")))
    result = qactl("stats", "4242", "--json")
    assert result.code == 75 and result.out == "" and "pid 4242: no earlier figures are known" in result.err


@pytest.mark.parametrize("size,shown", [
    (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1048524, "1023.9 KiB"),
    (1048575, "1.0 MiB"), (24536678, "23.4 MiB"), (2**30, "1.0 GiB"), (2**40 * 5, "5.0 TiB"), (2**64 - 1, "16.0 EiB"),
])
def test_sizes_are_in_binary_units(fake, qactl, size, shown):
    fake(ps=lambda params: {"targets": [{**DOCVIEW, **fake_qad.totals(), "rss_bytes": size}]})
    assert table_of(qactl("ps").out, "PID")[0]["RSS"] == shown


@pytest.mark.parametrize("cached,held,shown", [(0, 0, "-"), (0, 10, "0.0"), (10, 10, "100.0"), (999_999, 10**6, "99.9"),
                                               (1, 10**6, "0.1"), (1, 3, "33.3")])
def test_shares_are_not_rounded_to_all_or_nothing(fake, qactl, cached, held, shown):
    fake(ps=lambda params: {"targets": [{**DOCVIEW, **fake_qad.totals(), "cached_bytes": cached, "held_bytes": held}]})
    assert table_of(qactl("ps").out, "PID")[0]["CACHED%"] == shown


@pytest.mark.parametrize("seconds,shown", [(0, "0s"), (59, "59s"), (60, "1m00s"), (3599, "59m59s"), (3600, "1h00m"),
                                           (86399, "23h59m"), (86400, "1d00h"), (10**9, "11574d01h")])
def test_uptimes(fake, qactl, seconds, shown):
    fake(ps=lambda params: {"targets": [{**DOCVIEW, **fake_qad.totals(), "uptime_s": seconds}]})
    assert table_of(qactl("ps").out, "PID")[0]["UPTIME"] == shown


# Names


@pytest.mark.parametrize("name,shown", [
    ("plain", "plain"), ("two words", "two words"), ("a\nb\tc\rd", r"a\nb\tc\rd"), ("\x1b[31mred", r"\x1b[31mred"),
    ("back\\slash", r"back\\slash"), ("del\x7f", r"del\x7f"), ("csi\x9b2J", r"csi\u{9b}2J"), ("日本語", "日本語"),
    ("e\u0301", "e\u0301"), ("\u202egnp.exe", r"\u{202e}gnp.exe"), ("zero\u200bwidth", r"zero\u{200b}width"),
    ("x" * 64, "x" * 64), ("\x01" * 64, r"\x01" * 64), ("é" * 32, "é" * 32), ("\U0001f600", "\U0001f600"),
])
def test_names_are_harmless_on_a_terminal(fake, qactl, name, shown):
    one = fake_qad.target(command=name)
    other = fake_qad.target(pid=7, command="other", name=name)
    fake(ps=lambda params: {"targets": [{**one, **fake_qad.totals()}, {**other, **fake_qad.totals()}]})
    result = qactl("ps", LC_ALL="C.UTF-8")
    assert [row["COMMAND"] for row in table_of(result.out, "PID")] == [f"other ({shown})", shown]
    assert [each["command"] for each in qactl("ps", "--json").json] == ["other", name]
    assert qactl("ps", "--json").out.isascii()
    assert qactl("ps", LC_ALL="C").out.isascii()


def test_a_name_that_is_not_utf8(fake, qactl):
    one = {**fake_qad.target(), **fake_qad.totals(), "command": b"caf\xe9!".decode("utf-8", "surrogateescape")}
    fakes = fake(ps=lambda params: {"targets": [one]})
    fakes.errors = "surrogateescape"
    assert qactl("ps", LC_ALL="C.UTF-8").out.endswith("caf\\xe9!\n")
    assert qactl("ps", "--json").json[0]["command"] == "caf\ufffd!"


# Which targets


SEVERAL = [fake_qad.target(pid=1, command="docview"),
           fake_qad.target(pid=2, command="other", name="docview", uid=65534),
           fake_qad.target(pid=3, command="docview2"), fake_qad.target(pid=4, command="a-command-that-", exe="/bin/x"),
           fake_qad.target(pid=5, command="a-command-that-", exe="/opt/a-command-that-is-long"),
           fake_qad.target(pid=6, command="77")]


@pytest.fixture
def several(fake):
    return fake(ps=lambda params: {"targets": SEVERAL},
                trim=lambda params: fake_qad.trim_of(SEVERAL[params["pid"] - 1]),
                stats=lambda params: fake_qad.stats_of(SEVERAL[params["pid"] % 6 - 1], ROWS))


@pytest.mark.parametrize("command", ["stats", "trim"])
def test_several_matches_are_listed(several, qactl, command):
    result = qactl(command, "docview")
    assert result.code == 64 and result.out == "" and "2 targets are called docview; name one by its pid" in result.err
    assert ("--all" in result.err) == (command == "trim")
    rows = table_of(result.err, "PID")
    assert [(row["PID"], row["USER"], row["COMMAND"]) for row in rows] == [("1", "root", "docview"),
                                                                         ("2", "nobody", "other (docview)")]
    assert [method for method, _ in several.asked] == ["hello", "ps"]


@pytest.mark.parametrize("operand,pid", [("docview2", 3), ("other", 2), ("a-command-that-is-long", 5), ("77", 77),
                                         ("007", 7)])
def test_a_name_is_compared_as_a_whole_and_a_number_is_a_pid(several, qactl, operand, pid):
    qactl("stats", operand)
    assert several.asked[-1] == ("stats", {"pid": pid, "all_classes": False})


@pytest.mark.parametrize("operand", ["doc", "docview ", "DOCVIEW", "-"])
def test_a_name_that_only_looks_similar(several, qactl, operand):
    assert qactl("stats", operand).code == 67


# trim


def test_trim(fake, qactl):
    fakes = fake(trim=lambda params: fake_qad.trim_of(DOCVIEW, threads_skipped=2))
    result = qactl("trim", "4242")
    assert (result.code, result.err) == (0, "")
    assert fakes.asked[-1] == ("trim", {"pid": 4242})
    for pattern in (r"docview \(editor\), pid 4242: returned 64.0 KiB in 1.2 ms", r"held +97.7 KiB -> +33.7 KiB",
                    r"cached +68.4 KiB -> +4.4 KiB", r"rss +4.8 MiB -> +4.7 MiB", r"skipped +2 "):
        assert re.search(pattern, result.out), result.out
    assert len({line.index("->") for line in result.out.splitlines() if "->" in line}) == 1
    assert "skipped" not in qactl("trim", "4242", QAD_SOCKET=fake(path=f"{fakes.path}2").path).out


def test_trim_json(fake, qactl):
    fake()
    outcome = qactl("trim", "4242", "--json").json
    assert outcome == fake_qad.trim_of(DOCVIEW) and set(outcome) == TRIM_KEYS
    assert qactl("trim", "4242", "--all", "--json").json == [outcome]


def test_trim_all_of_a_name(several, qactl):
    rows = table_of(qactl("trim", "--all", "docview").out, "PID")
    assert [row["PID"] for row in rows] == ["1", "2", "TOTAL"]
    assert [row["RETURNED"] for row in rows] == ["64.0 KiB", "64.0 KiB", "128.0 KiB"]
    assert list(rows[0]) == ["PID", "RETURNED", "HELD WAS", "HELD NOW", "CACHED NOW", "RSS WAS", "RSS NOW", "TIME",
                             "SKIPPED", "COMMAND"]
    assert [one["pid"] for one in qactl("trim", "docview", "--all", "--json").json] == [1, 2]
    assert qactl("trim", "--all", "nobody").code == 67


def test_trim_all(several, qactl):
    result = qactl("trim", "--all", "--json")
    assert (result.code, result.err) == (0, "") and [one["pid"] for one in result.json] == [1, 2, 3, 4, 5, 6]
    assert all(set(one) == TRIM_KEYS for one in result.json)


def test_trim_all_of_a_thousand_in_any_order_of_answers(fake, qactl):
    targets = [fake_qad.target(pid=1000 + i, command="many") for i in range(1000)]
    fakes = fake(ps=lambda params: {"targets": targets},
                 trim=lambda params: fake_qad.trim_of(targets[params["pid"] - 1000]))
    result = qactl("trim", "--all", "many", "--json")
    assert result.code == 0 and [one["pid"] for one in result.json] == [one["pid"] for one in targets]
    assert fakes.most_waiting == 16


@pytest.mark.parametrize("codes,status", [
    ({1: "timeout"}, 75), ({1: "gone", 3: "timeout"}, 75), ({1: "gone"}, 67), ({2: "failed", 3: "timeout"}, 76),
    ({2: "not_allowed"}, 0), ({2: "not_allowed", 3: "gone"}, 67), (dict.fromkeys(range(1, 7), "not_allowed"), 77),
])
def test_trim_all_goes_on_and_the_highest_exit_code_counts(fake, qactl, codes, status):
    def trim(params):
        if params["pid"] in codes:
            raise Error(codes[params["pid"]])
        return fake_qad.trim_of(SEVERAL[params["pid"] - 1])

    fakes = fake(ps=lambda params: {"targets": SEVERAL}, trim=trim)
    result = qactl("trim", "--all", "--json")
    assert result.code == status
    assert [one["pid"] for one in result.json] == [one["pid"] for one in SEVERAL if one["pid"] not in codes]
    assert sorted(params["pid"] for method, params in fakes.asked if method == "trim") == [1, 2, 3, 4, 5, 6]
    for pid, code in codes.items():
        assert f", pid {pid}: " in result.err or code in ("not_allowed", "failed")
    if "not_allowed" in codes.values():
        assert "may be looked at but not trimmed" in result.err


def test_trim_all_of_a_name_counts_what_is_not_allowed(fake, qactl):
    def trim(params):
        if params["pid"] == 2:
            raise Error("not_allowed")
        return fake_qad.trim_of(SEVERAL[0])

    fake(ps=lambda params: {"targets": SEVERAL}, trim=trim)
    result = qactl("trim", "--all", "docview")
    assert result.code == 77 and "other (docview), pid 2: may be looked at" in result.err and "pid 1: " in result.out


def test_trim_all_without_targets(fake, qactl):
    fake(ps=lambda params: {"targets": []})
    result = qactl("trim", "--all", "--json")
    assert (result.code, result.json) == (0, []) and "nothing to trim" in result.err
