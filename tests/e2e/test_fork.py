"""fork: parent and child both have a whole heap and an agent of their own."""

from figures import row_of
from harness import IS_SANITIZED
from programs import wait_known


def test_fork_parent_and_child_both_show_up_and_both_trim(qad, target, qactl, stats):
    program = target()
    program.ask("signals")
    program.ask("alloc 1 10000 24 8")
    program.ask("alloc 2 10000 56 8")
    stats(program.pid)
    child = program.ask("fork")["pid"]
    wait_known(qactl, program.pid, child)

    assert program.ask("child check 1") == {"blocks": 10000, "bad": 0}
    program.ask("child free 2")  # in the child only
    figures = stats(child)
    assert row_of(figures, 24)["used_blocks"] == 10000 and row_of(figures, 56)["used_blocks"] == 0
    figures = stats(program.pid)
    assert row_of(figures, 24)["used_blocks"] == row_of(figures, 56)["used_blocks"] == 10000
    assert qactl("trim", child).code == 0
    assert row_of(stats(child), 56)["held_bytes"] == 0
    assert program.ask("check 2") == {"blocks": 10000, "bad": 0}

    program.ask("free 1")
    assert qactl("trim", program.pid).code == 0
    assert row_of(stats(program.pid), 24)["held_bytes"] == 0
    assert program.ask("child check 1") == {"blocks": 10000, "bad": 0}
    assert program.ask("counts")["eintr"] == 0


def test_fork_of_a_program_with_threads(qad, target, qactl, stats):
    program = target()
    for number in range(3):
        program.ask(f"thread {number}")
        program.ask(f"on {number} alloc {number} 1000 24 8")
        program.ask(f"on {number} free {number} 2")
    child = program.ask("fork")["pid"]
    wait_known(qactl, program.pid, child)
    for number in range(3):
        assert program.ask(f"child check {number}") == {"blocks": 500, "bad": 0}
        assert program.ask(f"child free {number}") == {"bad": 0}
    assert stats(child)["threads"] <= 1, "the threads that are not in the child have no cache there"
    assert qactl("trim", child).code == 0
    assert stats(child)["held_bytes"] == 0, "also what the threads that are not in the child had cached"
    assert row_of(stats(program.pid), 24)["used_blocks"] == 1500


def wait_for_runtime(qactl, pid):
    """gcc 12's AddressSanitizer does not release its locks over fork: no thread of the process may be just starting."""
    if IS_SANITIZED:
        wait_known(qactl, pid)


def test_fork_from_another_thread_and_again_in_the_child(qad, target, qactl, stats):
    program = target()
    program.ask("thread 1")
    program.ask("on 1 alloc 1 1000 24 8")
    wait_for_runtime(qactl, program.pid)
    child = program.ask("on 1 fork")["pid"]
    wait_for_runtime(qactl, child)
    grandchild = program.ask("child fork")["pid"]
    wait_known(qactl, program.pid, child, grandchild)
    assert program.ask("child child check 1") == {"blocks": 1000, "bad": 0}
    assert program.ask("child child free 1") == {"bad": 0}
    assert qactl("trim", grandchild).code == 0
    assert row_of(stats(child), 24)["used_blocks"] == 1000


def test_forks_while_threads_run_at_full_speed(qad, target, stats, qactl):
    program = target()
    stats(program.pid)
    program.send("load 4 500000 50")
    while not program.has_answer():
        assert qactl("trim", program.pid).code == 0
    answer = program.answer()
    assert answer == {"checked": 2000000, "bad": 0, "failed": 0, "children_bad": 0}
    assert stats(program.pid)["used_bytes"] == 0
