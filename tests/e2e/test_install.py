"""What `meson install` lays down is what a user needs, and programs build against it without a warning."""

import gzip
import os
import subprocess

import pytest

from conftest import BUILD, clean_environment

pytestmark = pytest.mark.plain_only  # a sanitizer's library is for its own build folder

C_PROGRAM = """
#include <qa.h>
#include <stdio.h>
#include <string.h>

struct point { double x, y, z; };

int main(void)
{
	struct point *point = (struct point *)qa_alloc(sizeof(struct point), 8);
	char *text = (char *)qa_malloc(100);
	if (!point || !text)
		return 1;
	strcpy(text, qa_version());
	struct qa_stats stats;
	struct qa_class_stats rows[64];
	size_t count = qa_stats(&stats, rows, 64);
	if (count == 0 || count > 64 || stats.used_bytes < 124)
		return 2;
	qa_dealloc(point, sizeof(struct point), 8);
	puts(text);
	qa_free_sized(text, 100);
	struct qa_trim_options options = {sizeof options, 0};
	struct qa_trim_result result;
	if (qa_trim(&options, &result) != 0 || qa_trim(NULL, NULL) != 0)
		return 3;
	qa_stats(&stats, NULL, 0);
	qa_agent_stop();
	return stats.held_bytes == 0 ? 0 : 4;
}
"""

# Static objects that free in their destructors, in an order that nobody chose.
CPP_PROGRAM = """
#include <qa.h>
#include <cstdio>
#include <cstring>
#include <new>

struct holder {
	void *block;
	holder() : block(qa_alloc(40, 8)) { if (!block) throw std::bad_alloc(); }
	~holder() { std::memset(block, 1, 40); qa_dealloc(block, 40, 8); }
};

static holder before;
thread_local holder of_thread;

int main()
{
	static holder in_main;
	std::memset(of_thread.block, 2, 40);
	struct qa_stats stats;
	qa_stats(&stats, nullptr, 0);
	std::puts(qa_version());
	return stats.used_bytes == 120 ? 0 : 1;
}
"""

COMPILERS = {
    "gcc -std=c11": C_PROGRAM, "gcc -std=gnu17": C_PROGRAM, "clang -std=c11": C_PROGRAM,
    "g++ -std=c++11": CPP_PROGRAM, "g++ -std=c++20": CPP_PROGRAM, "clang++ -std=c++11": CPP_PROGRAM,
}
WARNINGS = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of an installation; its prefix as configured lies below it."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder], check=True,
                   capture_output=True)
    return folder


def only(folder, pattern):
    found = sorted(folder.rglob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


def test_all_that_a_user_needs_is_installed(installed):
    for name in ("qad", "qactl"):
        assert os.access(only(installed, f"*bin/{name}"), os.X_OK)
    library = only(installed, "libqa.so")
    assert library.is_symlink() and (library.parent / "libqa.so.0").exists()
    for name in ("qa.h", "qa_inline.h", "libqa.pc", "libqa_malloc.so"):
        only(installed, name)
    for name in ("qad.8", "qactl.1", "libqa.3"):
        assert ".TH" in text_of(only(installed, name + "*"))


def text_of(page):
    data = page.read_bytes()
    return (gzip.decompress(data) if page.suffix == ".gz" else data).decode()


def test_nothing_else_is_installed(installed):
    """No header of proto, no test program, no static library of our own use."""
    names = {path.name for path in installed.rglob("*") if not path.is_dir()}
    allowed = {"qad", "qactl", "qa.h", "qa_inline.h", "libqa.pc", "qad.8", "qactl.1", "libqa.3", "libqa.a"}
    extra = {name for name in names if name not in allowed and not name.startswith(("libqa.so", "libqa_malloc.so"))}
    assert extra == set()


@pytest.mark.parametrize("page", ["qad.8", "qactl.1", "libqa.3"])
def test_man_pages_are_rendered_without_a_warning(installed, page):
    source = only(installed, page + "*")
    done = subprocess.run(["man", "--warnings", "-l", source], capture_output=True, text=True,
                          env=clean_environment(LC_ALL="C.UTF-8", MANWIDTH="100", PAGER="cat"))
    assert done.returncode == 0 and done.stderr == "" and "NAME" in done.stdout, done.stderr


def pkg_config(installed, *arguments):
    folder = only(installed, "libqa.pc").parent
    environment = clean_environment(PKG_CONFIG_PATH=folder, PKG_CONFIG_SYSROOT_DIR=installed)
    done = subprocess.run(["pkg-config", *arguments, "libqa"], check=True, capture_output=True, text=True,
                          env=environment)
    return done.stdout.split()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_program_builds_against_the_installation_and_runs(installed, tmp_path, compiler):
    source = tmp_path / ("program.cpp" if "++" in compiler else "program.c")
    source.write_text(COMPILERS[compiler])
    program = tmp_path / "program"
    subprocess.run([*compiler.split(), *WARNINGS, source, "-o", program, *pkg_config(installed, "--cflags", "--libs")],
                   check=True)
    library = only(installed, "libqa.so").parent
    done = subprocess.run([program], capture_output=True, text=True, timeout=30,
                          env=clean_environment(LD_LIBRARY_PATH=library))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == pkg_config(installed, "--modversion")[0]


def test_uninstalled_binaries_and_the_library_agree_on_the_version(installed):
    version = pkg_config(installed, "--modversion")[0]
    for binary in (BUILD / "qad" / "qad", BUILD / "qactl" / "qactl"):
        done = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True)
        assert version in done.stdout


def test_the_drop_in_finds_libqa_beside_it(installed):
    done = subprocess.run(["/bin/true"], capture_output=True, text=True, timeout=30,
                          env=clean_environment(LD_PRELOAD=only(installed, "libqa_malloc.so")))
    assert (done.returncode, done.stderr) == (0, "")
