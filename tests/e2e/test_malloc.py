"""libqa_malloc.so in place of malloc: programs that know nothing of libqa see no difference, and are seen by qad."""

import pathlib
import re
import signal
import subprocess
import time

import pytest

from figures import row_of
from harness import BUILD, REPO, clean_environment, wait_until

pytestmark = pytest.mark.plain_only  # a sanitizer has a malloc of its own

LIBRARY = BUILD / "libqa" / "libqa_malloc.so"
PROGRAMS = BUILD / "tests" / "e2e"
PLUGIN = PROGRAMS / "libmalloc_plugin.so"
SOURCES = REPO / "tests" / "e2e"
WARNINGS = ["-O2", "-Wall", "-Wextra", "-Werror"]


def run(*command, preload=LIBRARY, timeout=60, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout,
                          env=clean_environment(LD_PRELOAD=preload, **environment))


def run_well(*command, **options):
    done = run(*command, **options)
    assert (done.returncode, done.stderr) == (0, ""), f"{done}"
    return done.stdout


# What a program sees


def test_the_whole_family_answers_as_glibc_does():
    of_glibc, of_libqa = (run_well(PROGRAMS / "malloc_family", preload=preload) for preload in (None, LIBRARY))
    assert len(of_glibc.splitlines()) > 150
    assert of_libqa == of_glibc


@pytest.mark.parametrize("replaced", ["-DREPLACED", "-DPLAIN"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_operators_new_and_delete_do_what_the_c_library_s_do(tmp_path, compiler, replaced):
    program = tmp_path / "operators"
    subprocess.run([compiler, "-std=c++17", replaced, *WARNINGS, "-Wno-unknown-warning-option", "-Wno-sized-deallocation",
                    "-fno-builtin", "-fsized-deallocation", SOURCES / "malloc_operators.cc", "-o", program], check=True)
    of_glibc, of_libqa = (run_well(program, preload=preload) for preload in (None, LIBRARY))
    assert "another exception" in of_glibc
    assert of_libqa == of_glibc


def test_new_and_delete_use_a_malloc_that_is_the_program_s_own(tmp_path):
    program = tmp_path / "own"
    subprocess.run(["g++", "-std=c++17", "-fno-builtin", "-fsized-deallocation", SOURCES / "malloc_own.cc", "-o", program], check=True)
    for preload in (None, LIBRARY):
        assert run_well(program, preload=preload) == "3 news, 3 deletes\n"


def test_no_name_of_the_family_is_missing():
    """Two allocators in one program mix blocks: what libc exports for its malloc, and libstdc++ for its operators, we do."""
    ours = {line.split()[2] for line in run_well("nm", "-D", "--defined-only", LIBRARY, preload=None).splitlines()}
    libc = re.search(r"libc\.so\.6 => (\S+)", run_well("ldd", LIBRARY, preload=None)).group(1)
    theirs = {line.split()[2].split("@")[0] for line in run_well("nm", "-D", "--defined-only", libc, preload=None).splitlines()}
    family = {name for name in theirs if re.fullmatch(
        r"(__libc_)?(malloc|calloc|realloc|memalign|valloc|pvalloc|free|mallopt|mallinfo)|c?free|reallocarray|aligned_alloc|"
        r"posix_memalign|mallinfo2?|malloc_\w+", name)}
    assert len(family) >= 25
    assert family <= ours, family - ours
    assert {"free_sized", "free_aligned_sized"} <= ours
    operators = {line.split()[2].split("@")[0] for line in run_well(
        "nm", "-D", "--defined-only", subprocess.check_output(["g++", "-print-file-name=libstdc++.so"], text=True).strip(),
        preload=None).splitlines()}
    operators = {name for name in operators if re.match(r"_Z(nw|na|dl|da)[Pm]", name)}
    assert len(operators) >= 20
    assert operators <= ours, operators - ours
    extra = ours - family - operators - {"free_sized", "free_aligned_sized"}
    assert extra == set()


def test_the_library_needs_only_libqa_and_libc():
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", run_well("readelf", "-d", LIBRARY, preload=None))
    assert sorted(needed) == ["libc.so.6", "libqa.so.0"]


# When and how


def test_memory_is_there_before_libc_is_ready_and_settings_hold():
    out = run_well(PROGRAMS / "malloc_late", QA_PAGE_SIZE="128KiB")
    assert out.startswith("early environ 0\n"), "the library came first, or this test shows nothing"
    assert f'page_size="{128 << 10}"' in out and out.endswith("</malloc>\n")


@pytest.mark.parametrize("agent", ["on", "off"])
def test_threads_forks_and_plugins(agent, socket_path):
    plugins = [PLUGIN] * 3
    out = run_well(PROGRAMS / "malloc_lives", *plugins, timeout=120, QA_AGENT=agent, QAD_SOCKET=socket_path)
    assert out == "ok 40 children, 100 threads\n"


@pytest.mark.parametrize("kind", ["deepbind", "static", "middle", "freed"])
@pytest.mark.parametrize("call,says", [("free", "freed what is not a block of libqa, or was freed before: 0x"),
                                       ("realloc", "realloc of what is not a block of libqa, or was freed: 0x"),
                                       ("usable", "asked for the size of what is not a block of libqa, or was freed: 0x")])
def test_a_block_of_another_allocator_is_told(kind, call, says):
    done = run(PROGRAMS / "malloc_foreign", kind, call, PLUGIN)
    assert done.returncode == -signal.SIGABRT and done.stdout == ""
    assert re.fullmatch(rf"libqa: {says}[0-9a-f]+\n", done.stderr), done.stderr


@pytest.mark.parametrize("limit_kib", [100_000, 200_000])
def test_a_small_address_space_is_answered_with_enomem(limit_kib):
    script = "import sys\nkept = []\ntry:\n    while True: kept.append(bytearray(1 << 20))\nexcept MemoryError:\n    print('no more')"
    out = run_well("bash", "-c", f"ulimit -v {limit_kib}; exec \"$@\"", "bash", "/usr/bin/python3", "-c", script, QA_AGENT="off")
    assert out == "no more\n"


# One heap, one agent


def test_a_program_on_libqa_has_one_heap_and_one_agent(qad, target, stats, qactl):
    one = target(LD_PRELOAD=LIBRARY)
    figures = stats(one.pid)
    assert len(qactl("ps", "--json").json) == 1
    names = [task.joinpath("comm").read_text().strip() for task in one.agent_task().parent.iterdir()]
    assert names.count("qa-agent") == 1
    maps = open(f"/proc/{one.pid}/maps").read()
    assert "libqa_malloc.so" in maps and "libqa.so" in maps
    assert figures["used_bytes"] > 0, "the C library's own blocks are there"


def test_two_copies_in_one_process_are_at_peace(qad_factory, target, stats, qactl):
    """One is linked into the program and one preloaded. qad shows one of them; neither is thrown out and comes again."""
    qad = qad_factory().start("-v")
    two, other = target(PROGRAMS / "target-static", LD_PRELOAD=LIBRARY), target()
    assert two.answer_line() == "ok ready"
    comings = f"target {two.pid} of uid"
    wait_until(lambda: qad.log().count(comings) >= 2, what="both copies to come")
    agents = [task for task in pathlib.Path(f"/proc/{two.pid}/task").iterdir() if (task / "comm").read_text() == "qa-agent\n"]
    assert len(agents) == 2
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        stats(other.pid)  # qad has work, with another target
    assert qad.log().count(comings) == 2  # that one left would be a line of these, too
    assert sorted(row["pid"] for row in qactl("ps", "--json").json) == sorted([two.pid, other.pid])
    two.ask("agent stop")  # of the copy that is linked
    wait_until(lambda: qad.log().count(comings) == 3, what="one copy to leave")
    assert qactl("trim", two.pid).code == 0


LINKED_PROGRAM = """
#include <qa.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct qa_stats before, after;
	qa_stats(&before, NULL, 0);
	void *of_malloc = malloc(5000000), *of_qa = qa_malloc(5000000), *sized = qa_alloc(24, 8);
	qa_stats(&after, NULL, 0);
	printf("%d", after.used_bytes >= before.used_bytes + 10000024);
	printf(" %d", mallinfo2().hblkhd >= 10000000);
	qa_free(of_malloc);
	free(of_qa);
	free(sized);
	of_qa = realloc(qa_malloc(100), 70000);
	printf(" %zu\\n", qa_usable_size(of_qa) >= 70000 ? malloc_usable_size(of_qa) - qa_usable_size(of_qa) : 1);
	free(of_qa);
	return 0;
}
"""


@pytest.mark.parametrize("libraries", [["-lqa_malloc", "-lqa"], ["-lqa", "-lqa_malloc"], ["-lqa"]])
@pytest.mark.parametrize("preload", [LIBRARY, None])
def test_linked_or_preloaded_in_any_order_there_is_one_heap(tmp_path, libraries, preload):
    if preload is None and "-lqa_malloc" not in libraries:
        libraries = ["-lqa_malloc", "-lqa", "-Wl,-z,now"]
    source, program = tmp_path / "linked.c", tmp_path / "linked"
    source.write_text(LINKED_PROGRAM)
    subprocess.run(["gcc", *WARNINGS, "-fno-builtin", "-I", REPO / "libqa" / "include", source, "-o", program,
                    "-Wl,--no-as-needed", "-L", BUILD / "libqa", f"-Wl,-rpath,{BUILD / 'libqa'}", *libraries], check=True)
    assert run_well(program, preload=preload) == "1 1 0\n"


def test_what_is_seen_from_outside_is_what_malloc_info_says(qad, target, stats, qactl):
    """Python allocates 64 MiB, is asked, frees all, is trimmed by malloc_trim and from outside."""
    code = ("import ctypes, sys\n"
            "c = ctypes.CDLL(None)\n"
            "c.malloc.restype = c.malloc.argtypes = None\n"
            "c.malloc.restype, c.malloc.argtypes, c.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]\n"
            "for line in sys.stdin:\n"
            "    word = line.strip()\n"
            "    if word == 'fill': blocks = [c.malloc(1000) for _ in range(65536)]\n"
            "    if word == 'empty': [c.free(block) for block in blocks]\n"
            "    print('ok', 'trimmed=%d' % c.malloc_trim(0) if word == 'trim' else '', flush=True)\n")
    one = target("/usr/bin/python3", ["-c", code], LD_PRELOAD=LIBRARY, QA_NAME="filled")
    one.ask("fill")
    full = stats(one.pid)
    assert row_of(full, 1024)["used_blocks"] >= 65536
    one.ask("empty")
    assert row_of(stats(one.pid), 1024)["used_blocks"] < 1000
    rss_bytes = one.rss_bytes()
    assert qactl("trim", "filled").code == 0
    assert one.rss_bytes() < rss_bytes - (50 << 20)
    assert row_of(stats(one.pid), 1024)["held_bytes"] < 4 << 20
    one.ask("fill")
    one.ask("empty")
    rss_bytes = one.rss_bytes()
    assert one.ask("trim")["trimmed"] == 1
    assert one.rss_bytes() < rss_bytes - (50 << 20)
    one.process.stdin.close()
    assert one.process.wait(30) == 0
    wait_until(lambda: qactl("ps", "--json").json == [], what="the target to be gone")


LEAVES_BY_ITS_LAST_THREAD = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *data)
{
	free(malloc(100));
	return data;
}

static void *fork_here(void *data)
{
	int status = 1;
	pid_t child = fork();
	if (child == 0)
		return data; /* the only thread of the child */
	waitpid(child, &status, 0);
	printf("child ended with %d\\n", status);
	return data;
}

int main(void)
{
	pthread_t threads[4];
	pthread_create(&threads[0], NULL, fork_here, NULL);
	pthread_join(threads[0], NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	printf("main is gone\\n");
	pthread_exit(NULL);
}
"""


@pytest.mark.parametrize("agent", ["on", "off"])
def test_a_program_ends_with_its_last_thread(tmp_path, socket_path, agent):
    """The agent is no thread of the program's: exit is called, and what stdio holds is written."""
    source, program = tmp_path / "last.c", tmp_path / "last"
    source.write_text(LEAVES_BY_ITS_LAST_THREAD)
    subprocess.run(["gcc", *WARNINGS, source, "-o", program], check=True)
    for _ in range(20):
        out = run_well("timeout", "--signal=KILL", "20", program, QA_AGENT=agent, QAD_SOCKET=socket_path)
        assert out == "child ended with 0\nmain is gone\n"
