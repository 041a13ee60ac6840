"""/metrics: what it tells, in which form, and how little it costs the targets."""

import itertools
import os
import signal
import subprocess

import pytest
from prometheus_client import parser as text_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

import wire
from harness import stop_process, wait_until
from http_reader import get, later, wait_for_targets
from wire import PARTS

OPENMETRICS = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
PROCESS_FAMILIES = {"held_bytes", "used_bytes", "cached_bytes", *PARTS, "unreachable_bytes", "threads", "age_seconds",
                    "allocations", "frees", "rss_bytes", "silent", "trims", "returned_bytes"}
TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def samples(text, parser=text_parser):
    """Every sample as {(name, labels): value}; the parser refuses what is wrong in form."""
    found = {}
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, key
            found[key] = sample.value
    return found


def of_name(found, name):
    """The samples of one name, as a list of (labels, value)."""
    return [(dict(labels), value) for (sample, labels), value in found.items() if sample == name]


def value(found, name):
    (_, only), = of_name(found, name)
    return only


def scrape(qad, path="/metrics", accept="*/*"):
    answer = get(qad.http, path, Accept=accept)
    assert answer.status == 200, answer
    is_open = answer.headers["content-type"] == OPEN
    return samples(answer.text, openmetrics_parser if is_open else text_parser)


# What it tells.


def test_a_real_process_in_the_words_of_stats(served, target, stats):
    qad = served()
    process = target(QA_NAME="the name")
    process.ask("alloc 0 10000 48 8")
    figures = stats(process.pid)
    found = scrape(qad)
    labels = {"pid": str(process.pid), "command": "target", "name": "the name"}
    for key in ("held_bytes", "used_bytes", "cached_bytes", *PARTS, "threads"):
        assert of_name(found, f"qa_process_{key}") == [(labels, figures[key])], key
    assert of_name(found, "qa_process_allocations_total") == [(labels, figures["allocs"])]
    assert value(found, "qa_process_held_bytes") == value(found, "qa_process_used_bytes") + value(found, "qa_process_cached_bytes")
    assert value(found, "qa_process_rss_bytes") > figures["held_bytes"] / 2
    assert value(found, "qa_process_silent") == 0 and value(found, "qa_process_age_seconds") < 10
    info = of_name(found, "qa_process_info")[0][0]
    assert info["uid"] == str(os.getuid()) and info["inner_pid"] == str(process.pid) and info["exe"].endswith("/target")


def test_a_trim_is_counted(served, fake_of):
    qad = served()
    one, other = fake_of(qad, wire.ServingTarget), fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, one, other)
    for _ in range(2):
        qad.client.call("trim", pid=one.pid)
    found = scrape(qad)
    assert {labels["pid"]: count for labels, count in of_name(found, "qa_process_trims_total")} == {str(one.pid): 2, str(other.pid): 0}
    assert sum(count for _, count in of_name(found, "qa_process_returned_bytes_total")) == 2 * 65_536
    assert (value(found, "qad_trims_total"), value(found, "qad_returned_bytes_total")) == (2, 2 * 65_536)


def test_classes_only_when_asked(served, fake_of):
    qad = served()
    process = fake_of(qad)
    wait_for_targets(qad, process)
    answer = later(scrape, qad, "/metrics")
    assert process.answer_stats()["classes"] is False
    assert not [name for name, _ in answer() if name.startswith("qa_class")]
    answer = later(scrape, qad, "/metrics?classes=1")
    number, method, params = process.question()
    assert (method, params["classes"], params["all_classes"]) == ("stats", True, False)
    rows = [wire.row_of(), wire.row_of(block_size=0), wire.row_of(block_size=48, name='a "pool"')]
    process.answer(number, {**wire.totals_of(), "classes": rows})
    found = answer()
    held = of_name(found, "qa_class_held_bytes")
    assert {(labels["block_size"], labels["pool"]) for labels, _ in held} == {("24", ""), ("0", ""), ("48", 'a "pool"')}
    assert all(labels["pid"] == str(process.pid) and amount == rows[0]["held_bytes"] for labels, amount in held)
    assert {amount for _, amount in of_name(found, "qa_class_used_blocks")} == {1_000}


def test_a_process_that_tells_a_class_twice_has_it_once(served, fake_of):
    qad = served()
    rows = [wire.row_of(24, used=48), wire.row_of(24, used=24), wire.row_of(24, name="pool")]
    process = fake_of(qad, kind=wire.ServingTarget, rows=rows)
    wait_for_targets(qad, process)
    found = scrape(qad, "/metrics?classes=1")
    assert sorted(value for _, value in of_name(found, "qa_class_used_bytes")) == [72, wire.row_of()["used_bytes"]]


def test_the_other_way_round_classes_serve_both(served, fake_of):
    qad = served()
    process = fake_of(qad)
    wait_for_targets(qad, process)
    with_classes = later(scrape, qad, "/metrics?classes=1")
    assert process.answer_stats()["classes"] is True
    with_classes()
    assert scrape(qad) and not process.connection.has_bytes()


def test_qad_tells_of_itself(served, fake_of):
    qad = served()
    wait_for_targets(qad, fake_of(qad, wire.ServingTarget))
    found = scrape(qad)
    health = qad.client.call("health")
    assert of_name(found, "qad_build_info") == [({"version": health["version"]}, 1)]
    assert (value(found, "qad_targets"), value(found, "qad_clients")) == (1, 1)
    assert 0 < value(found, "qad_cpu_seconds_total") < 60 and value(found, "qad_rss_bytes") > 1 << 20
    assert (health["http_scrapes"], health["http_requests"], health["http_rounds"]) == (1, 1, 1)
    assert (health["http_on"], health["http_allows_trim"]) == (True, False)


def test_without_targets(served):
    assert not of_name(scrape(served()), "qa_process_held_bytes")


# In which form.


@pytest.mark.parametrize("accept, kind", [
    ("*/*", TEXT), ("text/plain", TEXT), ("application/openmetrics-text", OPEN), (OPENMETRICS, OPEN),
    ("application/openmetrics-text;q=0.3,text/plain;q=0.9", TEXT), ("application/openmetrics-text;q=0", TEXT),
    ("text/html, APPLICATION/OPENMETRICS-TEXT; version=1.0.0 ; q=1", OPEN), ("application/openmetrics-textual", TEXT),
    (",,;;q=,", TEXT), ("application/json", TEXT)])
def test_the_form_is_by_accept(served, accept, kind):
    qad = served()
    answer = get(qad.http, Accept=accept)
    assert answer.headers["content-type"] == kind
    assert answer.text.endswith("# EOF\n") == (kind == OPEN)
    assert ("# UNIT qa_process_held_bytes bytes\n" in answer.text) == (kind == OPEN)


def test_promtool_has_no_complaint(served, fake_of):
    qad = served()
    wait_for_targets(qad, fake_of(qad, wire.ServingTarget, name="x"), fake_of(qad))
    text = get(qad.http, "/metrics?classes=1").text
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_both_forms_say_the_same(served, fake_of):
    qad = served()
    wait_for_targets(qad, fake_of(qad, wire.ServingTarget))
    changing = ("qad_", "qa_process_age", "qa_process_rss")
    one, other = scrape(qad, "/metrics?classes=1"), scrape(qad, "/metrics?classes=1", OPENMETRICS)
    assert {key: value for key, value in one.items() if not key[0].startswith(changing)} == \
        {key: value for key, value in other.items() if not key[0].startswith(changing)}
    assert set(one) == set(other)


def test_the_families(served, fake_of):
    qad = served()
    wait_for_targets(qad, fake_of(qad, wire.ServingTarget))
    text = get(qad.http, "/metrics?classes=1", Accept=OPENMETRICS).text
    families = {family.name: family for family in openmetrics_parser.text_string_to_metric_families(text)}
    assert {name.removeprefix("qa_process_") for name in families if name.startswith("qa_process_")} == PROCESS_FAMILIES
    assert all(family.documentation.endswith(".") and family.samples for family in families.values())
    assert families["qa_process"].type == families["qad_build"].type == "info"
    for name, family in families.items():
        for unit in ("bytes", "seconds"):
            assert (family.unit == unit) == name.endswith("_" + unit), name


@pytest.mark.parametrize("name, visible", [
    ('"', '"'), ("\\", "\\"), ("\\n", "\\n"), ("a\nb", "a\nb"), ("{}=,#", "{}=,#"), ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    ("\u00fc\u0085\u202e", "\u00fc\\xc2\\x85\u202e"), ("# HELP x y", "# HELP x y"), ("", "")])
def test_names_are_escaped(served, fake_of, name, visible):
    qad = served()
    wait_for_targets(qad, fake_of(qad, wire.ServingTarget, name=name))
    for accept in ("*/*", OPENMETRICS):
        text = get(qad.http, Accept=accept).text
        assert not [character for character in text if character != "\n" and (ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0)]
        found = samples(text, openmetrics_parser if accept == OPENMETRICS else text_parser)
        assert of_name(found, "qa_process_held_bytes")[0][0]["name"] == visible


@pytest.mark.parametrize("query, status", [("classes=1", 200), ("classes=0", 200), ("classes=%31", 200), ("", 200), ("classes=2", 400),
                                           ("classes", 400), ("classes=", 400), ("classes=1&classes=1", 400), ("class=1", 400),
                                           ("classes=" + "1" * 65, 400), ("classes=1%00", 400), ("%63lasses=1&", 200)])
def test_the_query(served, query, status):
    assert get(served().http, "/metrics?" + query).status == status


def test_head_has_the_length_and_no_body(served):
    qad = served()
    answer = get(qad.http, method="HEAD")
    assert (answer.status, answer.body) == (200, b"") and int(answer.headers["content-length"]) > 1_000


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "get"])
def test_it_can_only_be_read(served, method):
    answer = get(served().http, method=method)
    assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD"


# What it costs.


def test_readers_at_the_same_time_share_one_question(served, fake_of):
    qad = served("--limit", "stats_ms=60000")  # twenty threads may take their time
    process = fake_of(qad)
    wait_for_targets(qad, process)
    before = qad.client.call("health")["questions"]
    answers = [later(get, qad.http, path, Accept=accept) for path, accept in
               itertools.product(("/metrics", "/metrics?classes=0"), ("*/*", OPENMETRICS)) for _ in range(5)]
    wait_until(lambda: qad.client.call("health")["http_requests"] == 20, what="the requests")
    process.answer_stats()
    bodies = {(answer.headers["content-type"], answer.body) for answer in (wait() for wait in answers)}
    assert len(bodies) <= 4
    after = qad.client.call("health")
    assert after["questions"] - before == 1 and after["http_rounds"] == 1


def test_nobody_reads_and_no_target_is_asked(served, fake_of):
    qad = served()
    process = fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, process)
    scrape(qad)
    wait_until(lambda: qad.client.call("health")["http_memory_bytes"] == 0, what="the answer to be forgotten")
    asked = qad.client.call("health")["questions"]
    history = qad.client.call("history", pid=process.pid)
    assert history["points"] == 1 and asked == 1


# Figures count as new for 0.9 s. A busy machine may take longer over both halves of a test, so there are some tries.


def test_who_watches_already_has_the_figures(served, fake_of):
    def is_served_by_the_watch():
        qad = served()
        process = fake_of(qad)
        wait_for_targets(qad, process)
        qad.client.call("watch", interval_ms=86_400_000)
        process.answer_stats()
        assert qad.client.receive()[1] == "figures"
        assert value(scrape(qad), "qa_process_used_bytes") == 24_000
        return not process.connection.has_bytes()

    assert any(is_served_by_the_watch() for _ in range(3))


def test_a_watch_and_a_reader_ask_a_target_together(served, fake_of):
    def is_asked_once():
        qad = served()
        process = fake_of(qad)
        wait_for_targets(qad, process)
        answer = later(scrape, qad)
        process.answer_stats(used=1_000)
        answer()
        qad.client.call("watch", interval_ms=60_000)
        while qad.client.receive()[2]["targets"][0]["used_bytes"] != 1_000:  # soon, and by what was asked for the reader
            pass
        return not process.connection.has_bytes()

    assert any(is_asked_once() for _ in range(3))


def test_a_silent_target_is_marked_and_not_waited_for(served, fake_of):
    qad = served("--limit", "stats_ms=1000")
    slow, good = fake_of(qad, wire.ServingTarget), fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, slow, good)
    stop_process(slow.pid)

    def silent():
        return {int(labels["pid"]): flag for labels, flag in of_name(scrape(qad), "qa_process_silent")}

    assert silent() == {slow.pid: 1, good.pid: 0}
    held = of_name(scrape(qad), "qa_process_held_bytes")
    assert [labels["pid"] for labels, _ in held] == [str(good.pid)]  # nothing is known of the other
    slow.kill(signal.SIGCONT)
    wait_until(lambda: silent() == {slow.pid: 0, good.pid: 0}, what="the silence to end")


def test_last_figures_of_a_stopped_one_get_old(served, fake_of):
    qad = served("--limit", "stats_ms=200")
    process = fake_of(qad, wire.ServingTarget)
    wait_for_targets(qad, process)
    wait_until(lambda: of_name(scrape(qad), "qa_process_used_bytes"), what="an answer, within 200 ms or later")
    stop_process(process.pid)
    found = wait_until(lambda: (found := scrape(qad)) and value(found, "qa_process_silent") and found, what="silence")
    assert value(found, "qa_process_used_bytes") == 24_000 and value(found, "qa_process_age_seconds") > 0.2


def test_a_gone_target_is_gone(served, fake_of):
    """At once: not only when the others are asked again. A slow machine may take a second over it, so there are some tries."""
    qad = served()
    stays = fake_of(qad, wire.ServingTarget)

    def is_gone_before_the_next_round():
        goes = fake_of(qad, wire.ServingTarget)
        wait_for_targets(qad, stays, goes)
        wait_until(lambda: len(of_name(scrape(qad), "qa_process_held_bytes")) == 2, what="both")
        rounds = qad.client.call("health")["http_rounds"]
        goes.end()
        wait_for_targets(qad, stays)
        wait_until(lambda: len(of_name(scrape(qad), "qa_process_held_bytes")) == 1, what="the gone one to be left out")
        return qad.client.call("health")["http_rounds"] == rounds

    assert any(is_gone_before_the_next_round() for _ in range(10))


def test_who_is_silent_already_is_not_waited_for(served, fake_of):
    qad = served("--limit", "trim_ms=100", "--limit", "stats_ms=86400000")
    process = fake_of(qad)
    wait_for_targets(qad, process)
    assert qad.client.error_of("trim", pid=process.pid) == "timeout"
    assert value(scrape(qad), "qa_process_silent") == 1  # stats would take a day


def test_a_target_that_ends_while_it_is_asked(served, fake_of):
    qad = served()
    process = fake_of(qad)
    wait_for_targets(qad, process)
    answer = later(scrape, qad)
    process.question()
    process.end()
    assert not of_name(answer(), "qa_process_silent")


def test_qad_ends_while_a_reader_waits(served, fake_of):
    qad = served()
    process = fake_of(qad)
    wait_for_targets(qad, process)
    answer = later(lambda: pytest.raises(Exception, get, qad.http))
    process.question()
    qad.process.terminate()
    answer()
