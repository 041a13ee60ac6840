"""What must hold of libqa, qad and qactl together: figures that are exact, a trim that reaches everything."""

import pytest

from figures import assert_sums, row_of
from harness import IS_SANITIZED

MIB = 1 << 20


def trim(qactl, target):
    result = qactl("trim", target.pid, "--json")
    assert result.code == 0, result
    return result.json


def used_classes(figures):
    return [row["block_size"] for row in figures["classes"] if row["used_blocks"]]


# Figures


def test_figures_are_exact_when_the_target_is_quiet(qad, target, stats):
    program = target()
    before = stats(program.pid)
    assert before["used_bytes"] == 0 and before["allocs"] == 0, "a program that allocated nothing shows nothing"

    small = program.ask("alloc 1 1000 24 8")["usable"]
    middle = program.ask("alloc 2 500 100 8")["usable"]
    large = program.ask("alloc 3 3 5000000 8")["usable"]
    figures = stats(program.pid)

    assert small == 1000 * 24
    assert (row_of(figures, 24)["used_blocks"], row_of(figures, 24)["used_bytes"]) == (1000, small)
    assert (row_of(figures, 104)["used_blocks"], row_of(figures, 104)["used_bytes"]) == (500, middle)
    assert (row_of(figures, 0)["used_blocks"], row_of(figures, 0)["used_bytes"]) == (3, large)
    assert 3 * 5000000 <= large < 3 * (5000000 + 64 * 1024)
    assert figures["used_bytes"] == small + middle + large
    assert (figures["allocs"], figures["frees"]) == (1503, 0)
    assert sorted(used_classes(figures)) == [0, 24, 104], "and no other class has a block"

    assert program.ask("free 3 3") == {"bad": 0}  # the first of three stays
    figures = stats(program.pid)
    assert (row_of(figures, 0)["used_blocks"], row_of(figures, 0)["used_bytes"]) == (1, large // 3)
    assert (row_of(figures, 0)["allocs"], row_of(figures, 0)["frees"]) == (3, 2)
    for group in (1, 2, 3):
        program.ask(f"free {group}")
    figures = stats(program.pid)
    assert used_classes(figures) == [] and figures["used_bytes"] == 0
    assert (figures["allocs"], figures["frees"]) == (1503, 1503)


def test_figures_are_exact_when_threads_free_what_others_allocated(qad, target, stats):
    program = target()
    for number in range(4):
        program.ask(f"thread {number}")
        program.ask(f"on {number} alloc {number} 1000 24 8")
        program.ask(f"on {number} alloc {10 + number} 500 100 8")
    # Each thread frees what its neighbour allocated; thread 3's blocks stay, and so does every tenth of thread 0's.
    program.ask("on 1 free 0 10")
    program.ask("on 2 free 1")
    program.ask("on 3 free 2")
    for number in range(4):
        program.ask(f"on {(number + 1) % 4} free {10 + number}")
    figures = stats(program.pid)
    assert row_of(figures, 24)["used_blocks"] == 1000 + 100
    assert row_of(figures, 24)["used_bytes"] == 1100 * 24
    assert row_of(figures, 104)["used_blocks"] == 0
    assert (row_of(figures, 24)["allocs"], row_of(figures, 24)["frees"]) == (4000, 2900)
    assert (row_of(figures, 104)["allocs"], row_of(figures, 104)["frees"]) == (2000, 2000)
    assert figures["used_bytes"] == 1100 * 24
    assert figures["threads"] >= 4

    for number in range(4):
        program.ask(f"end {number}")
    after = stats(program.pid)
    assert after["used_bytes"] == 1100 * 24, "a thread's end changes nothing of what is used"
    assert (after["allocs"], after["frees"]) == (figures["allocs"], figures["frees"])
    assert after["threads"] < figures["threads"]


def test_sized_and_malloc_blocks_share_the_figures(qad, target, stats):
    program = target()
    program.ask("malloc 1 100 24")  # 16-byte aligned: a class whose size is a multiple of 16
    program.ask("alloc 2 10 64 64")
    program.ask("alloc 3 10 200 256")
    program.ask("malloc 4 10 40000")
    program.ask("alloc 5 7 24 4096")
    figures = stats(program.pid)
    assert row_of(figures, 32)["used_blocks"] == 100
    assert row_of(figures, 64)["used_blocks"] == 10
    assert sum(row["used_blocks"] for row in figures["classes"]) == 137
    for group in range(1, 6):
        assert program.ask(f"free {group}") == {"bad": 0}
    figures = stats(program.pid)
    assert figures["used_bytes"] == 0 and figures["allocs"] == figures["frees"] == 137


def test_sums_hold_in_every_row_also_under_load(qad, target, qactl, stats):
    operations = 300_000 if IS_SANITIZED else 1_500_000
    program = target()
    stats(program.pid)
    program.send(f"load 4 {operations}")
    looks = 0
    while not program.has_answer():
        result = qactl("stats", program.pid, "--json", "--all-classes")
        assert result.code == 0, result
        assert_sums(result.json)
        looks += 1
    answer = program.answer()
    assert answer["bad"] == 0 and answer["failed"] == 0 and answer["checked"] == 4 * operations
    assert looks >= 3, "the load ended before anybody looked: give it more operations"
    figures = stats(program.pid)
    assert figures["used_bytes"] == 0 and figures["allocs"] == figures["frees"] == 4 * operations


def test_page_size_and_name_come_from_the_environment(qad, target, stats, qactl):
    program = target(QA_PAGE_SIZE="1MiB", QA_NAME="big pages")
    program.ask("alloc 1 10 24 8")
    figures = stats(program.pid)
    assert (figures["page_size"], figures["name"], figures["command"]) == (MIB, "big pages", "target")
    assert row_of(figures, 24)["held_bytes"] % MIB == 0
    assert qactl("stats", "big pages", "--json").json["pid"] == program.pid
    assert stats(target().pid)["page_size"] == 64 * 1024


@pytest.mark.parametrize("setting, value", [
    ("QA_PAGE_SIZE", "12345"), ("QA_PAGE_SIZE", "8MiB"), ("QA_PAGE_SIZE", "pages"), ("QA_AGENT", "maybe"),
    ("QA_NAME", "x" * 65)])
def test_a_wrong_setting_is_told_in_one_line_and_the_default_is_used(qad, target, stats, setting, value):
    program = target(**{setting: value})
    assert stats(program.pid)["page_size"] == 64 * 1024
    lines = program.errors().splitlines()
    assert len(lines) == 1 and setting in lines[0] and value[:60] in lines[0], lines


# Trim


def test_trim_reaches_caches_of_sleeping_threads(qad, target, stats, qactl):
    program = target()
    for number in range(4):
        program.ask(f"thread {number}")
        program.ask(f"on {number} alloc {number} 20000 24 8")
        program.ask(f"on {number} alloc {10 + number} 200 1000 16")
    for number in range(4):  # here and there: each frees its neighbour's
        program.ask(f"on {(number + 1) % 4} free {number}")
        program.ask(f"on {number} free {10 + number}")
    before = stats(program.pid)
    assert before["used_bytes"] == 0 and before["thread_bytes"] > 0
    assert before["unreachable_bytes"] == 0

    result = trim(qactl, program)  # all four sleep in read(2)
    after = stats(program.pid)
    assert result["threads_skipped"] == 0
    assert (after["held_bytes"], after["thread_bytes"]) == (0, 0), after
    assert result["held_before_bytes"] == before["held_bytes"]
    assert result["held_after_bytes"] == after["held_bytes"]
    assert result["cached_before_bytes"] == before["cached_bytes"] and result["cached_after_bytes"] == 0
    assert result["returned_bytes"] >= result["held_before_bytes"] - result["held_after_bytes"]

    for number in range(4):  # and the threads go on as before
        program.ask(f"on {number} alloc {number} 1000 24 8")
    assert row_of(stats(program.pid), 24)["used_blocks"] == 4000


def test_trim_reaches_caches_of_threads_that_have_ended(qad, target, stats, qactl):
    program = target()
    for number in range(8):
        program.ask(f"thread {number}")
        program.ask(f"on {number} alloc {number} 5000 56 8")
    for number in range(8):
        program.ask(f"on {number} free {number}")
        program.ask(f"end {number}")
    before = stats(program.pid)
    assert before["held_bytes"] >= 0 and before["used_bytes"] == 0
    trim(qactl, program)
    after = stats(program.pid)
    assert after["held_bytes"] == 0 and after["cached_bytes"] == 0


@pytest.mark.plain_only  # a sanitizer's shadow memory is resident too
def test_trim_gives_memory_back_to_the_system(qad, target, stats, qactl):
    program = target()
    start = program.rss_bytes()
    program.ask("alloc 1 1000000 24 8")
    program.ask("alloc 2 4000 4000 16")
    program.ask("alloc 3 4 5000000 16")
    full = program.rss_bytes()
    assert full > start + 50 * MIB
    for group in (1, 2, 3):
        assert program.ask(f"free {group}") == {"bad": 0}
    result = trim(qactl, program)
    # The program's own array of blocks, 32 bytes each from glibc, stays: 1,000,000 of them.
    own = 32 * 1004004
    assert result["rss_before_bytes"] - result["rss_after_bytes"] > 20 * MIB
    assert program.rss_bytes() <= start + own + 3 * MIB
    assert stats(program.pid)["held_bytes"] == 0


@pytest.mark.parametrize("every", [100, 1000])
def test_trim_keeps_the_blocks_that_are_used(qad, target, stats, qactl, every):
    program = target()
    program.ask("alloc 1 100000 40 8")
    program.ask("alloc 2 1000 3000 16")
    program.ask(f"free 1 {every}")
    program.ask(f"free 2 {every}")
    trim(qactl, program)
    figures = stats(program.pid)
    assert row_of(figures, 40)["used_blocks"] == 100000 // every
    assert program.ask("check 1") == {"blocks": 100000 // every, "bad": 0}
    assert program.ask("check 2") == {"blocks": 1000 // every, "bad": 0}
    # What was given back inside pages is found again.
    program.ask("alloc 3 100000 40 8")
    program.ask("alloc 4 1000 3000 16")
    for group in (1, 2, 3, 4):
        assert program.ask(f"check {group}")["bad"] == 0
        assert program.ask(f"free {group}")["bad"] == 0
    trim(qactl, program)
    assert stats(program.pid)["held_bytes"] == 0


def test_trim_twice_has_nothing_left_to_return(qad, target, stats, qactl):
    program = target()
    program.ask("alloc 1 50000 24 8")
    program.ask("free 1")
    stats(program.pid)
    assert trim(qactl, program)["returned_bytes"] > 0
    again = trim(qactl, program)
    assert again["returned_bytes"] == 0 and again["held_before_bytes"] == again["held_after_bytes"] == 0


def test_trim_while_four_threads_run_at_full_speed(qad, target, stats, qactl):
    operations = 600_000 if IS_SANITIZED else 6_000_000
    program = target()
    stats(program.pid)
    program.send(f"load 4 {operations}")
    trims = 0
    while not program.has_answer():
        trim(qactl, program)
        trims += 1
    answer = program.answer()
    assert answer == {"checked": 4 * operations, "bad": 0, "failed": 0, "children_bad": 0}
    assert trims >= 10, "the load ended before it was trimmed often: give it more operations"
    figures = stats(program.pid)
    assert figures["used_bytes"] == 0 and figures["allocs"] == figures["frees"] == 4 * operations
    trim(qactl, program)
    assert stats(program.pid)["held_bytes"] == 0


def test_trim_all_takes_every_target(qad, target, stats, qactl):
    programs = [target(QA_NAME="many") for _ in range(3)]
    for program in programs:
        program.ask("alloc 1 10000 24 8")
        program.ask("free 1")
        stats(program.pid)
    result = qactl("trim", "many", "--all", "--json")
    assert result.code == 0, result
    for program in programs:
        assert stats(program.pid)["held_bytes"] == 0


# Late frees


def test_blocks_freed_by_a_threads_last_destructor(qad, target, stats):
    program = target()
    program.ask("late-thread 1000 24")
    figures = stats(program.pid)
    row = row_of(figures, 24)
    assert (row["used_blocks"], row["allocs"], row["frees"]) == (0, 1001, 1001)
    program.ask("late-thread 500 1000")
    assert stats(program.pid)["used_bytes"] == 0
    program.quit()


def test_blocks_freed_by_atexit_and_by_a_static_destructor(qad, target):
    program = target()
    program.ask("late-exit 1000 24")
    program.quit()
    assert program.answer() == {"used": 0, "allocs": 2000, "frees": 2000}


def test_blocks_that_are_never_freed_do_not_disturb_the_end(qad, target):
    program = target()
    program.ask("thread 1")
    program.ask("on 1 alloc 1 1000 24 8")
    program.ask("malloc 2 2 5000000")
    program.quit()


def test_memory_that_is_out_is_an_error_not_a_crash(target, qad, stats):
    program = target()
    assert program.ask_line("malloc 1 1 9000000000000000000") == "error Cannot allocate memory"
    assert program.ask_line("alloc 1 1 9000000000000000000 8") == "error Cannot allocate memory"
    assert program.ask_line("alloc 1 1 24 3") == "error Invalid argument"
    assert stats(program.pid)["used_bytes"] == 0
    assert program.ask("alloc 1 10 24 8")
