"""Programs on libqa under AddressSanitizer and Valgrind: the tools find the faults of users of the pool."""

import shutil
import subprocess

import pytest

from harness import BUILD, REPO, clean_environment

pytestmark = pytest.mark.plain_only

SOURCE = r"""
#include <string.h>
#include "qa.h"

int main(int argc, char **argv)
{
	const char *fault = argc > 1 ? argv[1] : "none";
	char *typed = (char *)qa_alloc(24, 8), *block = (char *)qa_malloc(100);
	volatile size_t end = 24, hundred = 100;

	memset(typed, 1, 24);
	memset(block, 1, 100);
	if (!strcmp(fault, "overrun"))
		typed[end] = 1;
	if (!strcmp(fault, "overrun-read"))
		hundred = block[qa_usable_size(block)];
	qa_dealloc(typed, 24, 8);
	qa_free(block);
	if (!strcmp(fault, "write-after-free"))
		typed[end - 1] = 2;
	if (!strcmp(fault, "read-after-free"))
		hundred = block[50];
	if (!strcmp(fault, "twice"))
		qa_free(block);
	for (int i = 0; i < 10000; i++)
		qa_free(qa_malloc((size_t)i));
	return hundred == 12345;
}
"""


def compile_program(folder, *flags):
    source = folder / "faults.c"
    source.write_text(SOURCE)
    program = folder / "faults"
    library = BUILD / "libqa"
    subprocess.run(["gcc", "-std=c11", "-g", "-O1", *flags, f"-I{REPO}/libqa/include", str(source), f"-L{library}", "-lqa",
                    f"-Wl,-rpath,{library}", "-o", str(program)], check=True)
    return program


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120,
                          env=clean_environment(QA_AGENT="off"))


@pytest.fixture(scope="module")
def asan_program(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("asan"), "-fsanitize=address")


@pytest.fixture(scope="module")
def plain_program(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("plain"))


def test_asan_is_quiet_without_a_fault(asan_program):
    result = run(asan_program)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("fault", ["overrun", "overrun-read", "write-after-free", "read-after-free"])
def test_asan_finds(asan_program, fault):
    result = run(asan_program, fault)
    assert result.returncode != 0
    assert "AddressSanitizer: use-after-poison" in result.stderr
    assert "faults.c" in result.stderr


@pytest.mark.parametrize("program", ["asan_program", "plain_program"])
def test_a_double_free_is_told(request, program):
    result = run(request.getfixturevalue(program), "twice")
    assert result.returncode != 0
    assert "libqa: freed twice" in result.stderr


def valgrind(program, *arguments):
    assert shutil.which("valgrind"), "script/bootstrap installs it"
    return run("valgrind", "-q", "--error-exitcode=9", program, *arguments)


def test_valgrind_is_quiet_without_a_fault(plain_program):
    result = valgrind(plain_program)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("fault, words", [("overrun", "Invalid write"), ("overrun-read", "Invalid read"),
                                          ("write-after-free", "Invalid write"), ("read-after-free", "Invalid read")])
def test_valgrind_finds(plain_program, fault, words):
    result = valgrind(plain_program, fault)
    assert result.returncode != 0
    assert words in result.stderr and "faults.c" in result.stderr
    if "after-free" in fault:
        assert "free'd" in result.stderr and "Block was alloc'd" in result.stderr
