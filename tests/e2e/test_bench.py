"""The benchmark programs run, measure all that they list, and print what they promise. No time is asserted."""

import json
import re
import subprocess

import pytest

from harness import BUILD, REPO, clean_environment

pytestmark = pytest.mark.plain_only  # times and resident memory of a sanitizer's build say nothing

BENCH = BUILD / "bench"
QA_BENCH = BENCH / "qa-bench"
OURS = ("libqa", "libqa-sized", "libqa-malloc")
PAIRS = [f"pair-{size}" for size in (16, 24, 32, 64, 256)]
BATCHES = ["batch-in-order", "batch-reversed", "batch-shuffled"]
SHRINKS = ["shrink-runs", "shrink-hundredth", "shrink-random"]
MIXED = ["random-live", "server-churn", "short-threads", "large-buffers", "large-realloc"]
WORKLOADS = PAIRS + [name + "-unknown" for name in PAIRS] + BATCHES + SHRINKS + MIXED + ["producer-consumer"]
PEERS = ("glibc", "jemalloc", "tcmalloc", "mimalloc")
SIZED_PEERS = ("jemalloc-sized", "tcmalloc-sized", "mimalloc-sized")
BOOST = ("boost-quick", "boost-fast-pool")
MEMBERS = {"ns_per_op", "ns_per_op_lowest", "ns_per_op_highest", "peak_rss_bytes", "after_rss_bytes", "base_rss_bytes"}


def run(program, *arguments, **environment):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=150,
                          env=clean_environment(**environment))


def measure(*arguments):
    done = run(QA_BENCH, "--rounds", "1", "--work-ms", "0.05", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return {(row["workload"], row["allocator"]): row for row in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def rows():
    return measure()


def expected(workload):
    allocators = set(OURS + PEERS)
    if workload in PAIRS + BATCHES + ["producer-consumer"]:
        allocators |= set(SIZED_PEERS + BOOST)
    if workload in PAIRS + BATCHES:
        allocators.add("floor")
    return allocators


def test_every_allocator_is_measured_with_every_workload_it_can_do(rows):
    assert set(rows) == {(workload, allocator) for workload in WORKLOADS for allocator in expected(workload)}


def test_the_list_names_what_is_measured(rows):
    done = run(QA_BENCH, "--list")
    listed = re.findall(r"^  (\S+)", done.stdout, re.MULTILINE)
    assert done.returncode == 0
    assert set(listed) == {name for pair in rows for name in pair}


def test_figures_are_positive_and_in_order(rows):
    for row in rows.values():
        assert MEMBERS <= set(row)
        assert all(row[member] > 0 for member in MEMBERS), row
        assert row["ns_per_op_lowest"] <= row["ns_per_op"] <= row["ns_per_op_highest"]
        assert row["rounds"] == 1
        assert row["after_rss_bytes"] <= row["peak_rss_bytes"], row


def test_libqa_is_compared_with_peers_alone(rows):
    for (workload, allocator), row in rows.items():
        if allocator not in OURS:
            assert "ratio_to_fastest_peer" not in row
            continue
        peers = {peer for peer in expected(workload) if peer not in OURS + ("floor",)}
        if allocator != "libqa-sized":
            peers -= set(SIZED_PEERS)
        fastest = min(peers, key=lambda peer: rows[workload, peer]["ns_per_op"])
        assert row["fastest_peer"] in peers
        assert rows[workload, row["fastest_peer"]]["ns_per_op"] == rows[workload, fastest]["ns_per_op"]  # there are ties
        ratio = row["ns_per_op"] / rows[workload, fastest]["ns_per_op"]
        assert row["ratio_to_fastest_peer"] == pytest.approx(ratio, rel=1e-3)
        assert ("ratio_to_floor" in row) == ("floor" in expected(workload))


def test_shrink_tells_the_bound_of_what_may_stay(rows):
    for workload in SHRINKS:
        for allocator in OURS + PEERS:
            row = rows[workload, allocator]
            assert row["live_page_bytes"] > 0 and row["live_page_bytes"] % 4096 == 0
            assert row["bound_bytes"] == pytest.approx(1.1 * row["live_page_bytes"] + (1 << 20), abs=1)
            assert row["shrunk_bytes"] == row["after_rss_bytes"] - row["base_rss_bytes"]


def test_the_random_live_set_is_resident(rows):
    """100,000 blocks of 520 bytes on average: an allocator that was not really asked would show less."""
    for allocator in OURS + PEERS:
        assert rows["random-live", allocator]["peak_rss_bytes"] > 100000 * 500


def test_one_workload_and_one_allocator_can_be_chosen():
    assert set(measure("--workload", "pair-32", "--allocator", "libqa", "--allocator", "glibc")) == {
        ("pair-32", "libqa"), ("pair-32", "glibc")}


def test_another_build_is_measured_beside_this_one():
    rows = measure("--workload", "pair-32", "--compare", BENCH, "--allocator", "libqa", "--allocator", "libqa-other")
    assert set(rows) == {("pair-32", "libqa"), ("pair-32", "libqa-other")}
    assert rows["pair-32", "libqa"]["ratio_to_other"] > 0


def test_a_library_that_is_not_there_is_left_out_with_a_note():
    done = run(QA_BENCH, "--rounds", "1", "--work-ms", "0.05", "--workload", "pair-32", "--peer",
               "absent=/nonexistent/libabsent.so", "--allocator", "absent", "--allocator", "glibc")
    assert done.returncode == 0
    assert re.search(r"^left out: absent: .*libabsent", done.stdout, re.MULTILINE), done.stdout
    assert not re.search(r"^  absent ", done.stdout, re.MULTILINE)


def test_the_table_has_a_row_for_each_and_says_what_was_reached():
    done = run(QA_BENCH, "--rounds", "1", "--work-ms", "0.05", "--workload", "pair-32", "--workload", "shrink-runs")
    assert done.returncode == 0, done.stderr
    pair, shrink = done.stdout.split("\nshrink-runs:")
    for allocator in expected("pair-32"):
        assert re.search(rf"^  {allocator} +\d+\.\d\d ", pair, re.MULTILINE), done.stdout
    for allocator in OURS:
        assert re.search(rf"^  {allocator} .*of 1\.\d MiB  (reached|missed)", shrink, re.MULTILINE), done.stdout
    assert re.search(r"^  libqa-sized .*\(0\.5\)  (reached|missed);.*x floor \(2\.0\)  (reached|missed)", pair,
                     re.MULTILINE), done.stdout


def test_the_summary_has_a_line_for_each_workload():
    done = run(QA_BENCH, "--rounds", "1", "--work-ms", "0.05", "--summary", "--workload", "pair-32", "--workload",
               "shrink-random")
    assert done.returncode == 0, done.stderr
    columns = r" +\d+\.\d\d" * 7
    assert re.search(rf"^pair-32{columns} +\d+\.\d\d  +\d+\.\d\d  +\d+\.\d\d\*? +\d+\.\d\d\*? +\S+$", done.stdout, re.MULTILINE)
    assert re.search(rf"^shrink-random{columns} ", done.stdout, re.MULTILINE)
    assert re.search(r"^shrink-random( +\d+\.\d/\d+\.\d\*?){7}$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("arguments", [
    ("--workload", "no-such"), ("--allocator", "no-such"), ("--rounds", "0"), ("--rounds", "102"), ("--work-ms", "x"),
    ("--peer", "nameonly"), ("--peer", "glibc=x"), ("--compare", "a", "--compare", "b"), ("--no-such",), ("argument",)])
def test_what_is_not_understood_exits_64_and_points_to_the_help(arguments):
    done = run(QA_BENCH, *arguments)
    assert done.returncode == 64
    assert "qa-bench --help" in done.stderr
    assert done.stdout == ""


def test_a_measured_program_refuses_another_malloc_than_it_was_told():
    done = run(BENCH / "bench-malloc", "--workload", "pair-32", "--expect", "jemalloc")
    assert done.returncode == 3
    assert "not of jemalloc" in done.stderr


def test_trim_delay_tells_both_halves():
    done = run(BENCH / "trim-delay", "--trims", "3", "--mib", "4", "--rounds", "1", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    for kind in ("without", "with"):
        delays = answer[kind]
        assert 0 < delays["p50_ns"] <= delays["p99_ns"] <= delays["p9999_ns"] <= delays["max_ns"]
        assert delays["count"] > 0
    assert answer["p9999_more_ns"] == answer["with"]["p9999_ns"] - answer["without"]["p9999_ns"]
    assert [cost["survivors"] for cost in answer["cost"]] == ["all", "runs", "hundredth"]
    for cost in answer["cost"]:
        assert cost["returned_bytes"] % 4096 == 0 and cost["runs"] > 0
        assert cost["ratio"] == pytest.approx(cost["trim_ms"] / cost["madvise_ms"], rel=1e-3)
    assert answer["cost"][0]["returned_bytes"] > 3 << 20  # nearly all of the 4 MiB


def test_instructions_counts_what_a_pair_executes():
    done = run(REPO / "bench" / "instructions", "--build", BUILD, "--json", "--allocator", "libqa-sized",
               "--allocator", "floor")
    assert done.returncode == 0, done.stderr
    counts = {(row["workload"], row["allocator"]): row["instructions_per_op"] for row in json.loads(done.stdout)}
    assert set(counts) == {("pair-32", "libqa-sized"), ("pair-32-unknown", "libqa-sized"),
                           ("batch-in-order", "libqa-sized"), ("pair-32", "floor"), ("batch-in-order", "floor")}
    assert all(count >= 4 for count in counts.values())
    assert counts["pair-32", "floor"] < counts["pair-32", "libqa-sized"]


STORY = REPO / "bench" / "story"
STORY_BYTES = [step + "_bytes" for step in ("start", "open", "closed", "trimmed", "reopened", "closed_again")]


def story(*arguments):
    return run(STORY, "--build", BUILD, *arguments)


def test_the_story_is_told_with_every_allocator():
    done = story("--quick", "--json")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == len({(row["group"], row["name"]) for row in rows}) == 16
    for row in rows:
        assert row["open_bytes"] > row["start_bytes"] + (10 << 20), row
        assert all(row[key] > 0 for key in STORY_BYTES) and row["opening_cpu_ms"] > 0, row
    # 5 * 65,536 control blocks cost 24 bytes each, not 32: that is 2.5 MiB; what libqa itself needs is far less.
    open_bytes = {row["name"]: row["open_bytes"] for row in rows if "boost::shared_ptr" in row["group"]}
    assert open_bytes["Boost on libqa"] < open_bytes["glibc"] - (1 << 20), open_bytes


def test_a_whole_document_on_libqa_comes_back_at_every_page_size():
    """Memory, not time: at the full size what libqa keeps for itself would show."""
    done = story("--page-sizes", "--rounds", "1", "--only", "std::allocate_shared", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 6
    for row in rows:
        assert row["open_bytes"] > 250 << 20, row
        assert row["trimmed_bytes"] <= row["start_bytes"] + (2 << 20), row


def test_the_story_says_what_is_wrong(tmp_path):
    done = run(STORY, "--build", tmp_path)
    assert done.returncode == 1 and f"nothing is built in {tmp_path}" in done.stderr
    done = story("--only", "no such row")
    assert done.returncode == 1 and "no row has" in done.stderr
    assert story("--rounds", "0").returncode == 2


def test_qad_load_prints_what_it_promises():
    done = run(BENCH / "qad-load", "--targets", "12", "--clients", "3", "--rate", "5", "--seconds", "1", "--json", "--abuse")
    assert done.returncode == 0 and done.stderr == "", done
    load = json.loads(done.stdout)
    assert load["targets"] == 12 and load["clients"] == 3 and load["stats_count"] > 10
    assert {"cpu_percent", "bytes_per_target", "stats_p50_us", "stats_p99_us", "stats_p999_us", "rss_bytes",
            "dropped_notifications"} <= load.keys()
    assert 0 < load["stats_p50_us"] <= load["stats_p99_us"] <= load["stats_p999_us"]
    assert load["notifications"] >= 3 and load["dropped_peers"] > 0
    done = run(BENCH / "qad-load", "--targets", "5", "--clients", "0", "--http", "4", "--rate", "5", "--seconds", "1", "--json", "--no-probe",
               "--http-path", "/metrics?classes=1")
    assert done.returncode == 0 and done.stderr == "", done
    load = json.loads(done.stdout)
    assert load["http_readers"] == 4 and load["http_answers"] > 0 and load["http_rounds"] > 0 and load["stats_count"] == 0
    assert load["http_bytes"] > 10_000 and 0 < load["http_p50_us"] <= load["http_p99_us"] <= load["http_max_us"]
    done = run(BENCH / "qad-load", "--targets", "1", "--clients", "0", "--http", "1", "--seconds", "1", "--http-path", "/no")
    assert done.returncode == 1 and "answers with an error" in done.stderr
    for words in (["--targets", "0"], ["--rate", "x"], ["--http", "-1"], ["extra"], ["--no-such"]):
        assert run(BENCH / "qad-load", *words).returncode == 64


def test_what_qad_costs_its_targets_is_told():
    done = run(REPO / "bench" / "in-the-way", "--build", BUILD, "--targets", "3", "--rounds", "1", "--seconds", "0.1", "--json")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    numbers = json.loads(done.stdout)
    assert len(numbers["rates"]) == 7 and numbers["rates"][0]["way"] == "no qad" and numbers["rates"][0]["ratio"] == 1
    assert all(row["per_second"] > 0 and row["per_cpu_second"] > 0 for row in numbers["rates"])
    assert numbers["back"]["rounds"] == 4 and 0 < numbers["back"]["p50_s"] <= numbers["back"]["max_s"]
    assert run(REPO / "bench" / "in-the-way", "--rounds", "0").returncode == 2
