"""What `meson install` lays down is what a user needs, and programs build against it without a warning."""

import gzip
import os
import pathlib
import re
import subprocess

import pytest

from harness import BUILD, REPO, clean_environment

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
	struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	size_t count = qa_stats(&stats, rows, QA_STATS_ROWS_MAX);
	if (count == 0 || count > QA_STATS_ROWS_MAX || stats.used_bytes < 124)
		return 2;
	qa_dealloc(point, sizeof(struct point), 8);
	puts(text);
	qa_free_sized(text, 100);
	struct qa_trim_options options = {.size = sizeof options};
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

BOOST_PROGRAM = """
#define BOOST_SP_USE_QUICK_ALLOCATOR
#include <boost/shared_ptr.hpp>
#ifdef QA_H
int main()
{
	boost::shared_ptr<int> pointer(new int(1));
	struct qa_stats stats;
	qa_stats(&stats, 0, 0);
	return stats.used_bytes == 24 ? 0 : 1;
}
#endif
"""

COMPILERS = {
    "gcc -std=c11": C_PROGRAM, "gcc -std=gnu17": C_PROGRAM, "clang -std=c11": C_PROGRAM,
    "g++ -std=c++11": CPP_PROGRAM, "g++ -std=c++20": CPP_PROGRAM, "clang++ -std=c++11": CPP_PROGRAM,
}
EXAMPLES = REPO / "examples"
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
    for name in ("qa.h", "qa_inline.h", "qa.hpp", "libqa.pc", "libqa_malloc.so", "libqa-boost.pc", "quick_allocator.hpp"):
        only(installed, name)
    assert only(installed, "_qactl").parent.name == "site-functions"
    assert only(installed, "qactl.fish").parent.name == "vendor_completions.d"
    (completion,) = [found for found in installed.rglob("bash-completion/completions/qactl")]
    assert "complete -F" in completion.read_text()
    for name in ("qad.8", "qactl.1", "libqa.3", "libqa_cxx.3", "libqa_malloc.7"):
        assert ".TH" in text_of(only(installed, name + "*"))


def text_of(page):
    data = page.read_bytes()
    return (gzip.decompress(data) if page.suffix == ".gz" else data).decode()


def test_nothing_else_is_installed(installed):
    """No header of proto, no test program, no static library of our own use."""
    names = {path.name for path in installed.rglob("*") if not path.is_dir()}
    allowed = {"qad", "qactl", "qa.h", "qa_inline.h", "qa.hpp", "quick_allocator.hpp", "libqa.pc", "libqa-boost.pc", "qad.8",
               "qactl.1", "libqa.3", "libqa_cxx.3", "libqa_malloc.7", "libqa.a", "qad.service", "qad.socket",
               "_qactl", "qactl.fish", "qad-http.conf", "qad.alerts.yml", "qad.json", "qad.rules.yml", "prometheus.yml"}
    extra = {name for name in names if name not in allowed and not name.startswith(("libqa.so", "libqa_malloc.so"))}
    assert extra == set()


@pytest.mark.parametrize("page", ["qad.8", "qactl.1", "libqa.3", "libqa_cxx.3", "libqa_malloc.7"])
def test_man_pages_are_rendered_without_a_warning(installed, page):
    source = only(installed, page + "*")
    done = subprocess.run(["man", "--warnings", "-l", source], capture_output=True, text=True,
                          env=clean_environment(LC_ALL="C.UTF-8", MANWIDTH="100", PAGER="cat"))
    assert done.returncode == 0 and done.stderr == "" and "NAME" in done.stdout, done.stderr


def test_the_example_of_the_man_page_builds_and_runs(installed, tmp_path):
    """As it is shown: what the renderer swallows, such as a backslash, is missed by whoever copies it."""
    done = subprocess.run(["man", "-l", only(installed, "libqa.3*")], capture_output=True, text=True, check=True,
                          env=clean_environment(LC_ALL="C.UTF-8", MANWIDTH="100", PAGER="cat"))
    source, program = tmp_path / "example.c", tmp_path / "example"
    source.write_text(re.search(r"^EXAMPLE\n(.*?)^SEE ALSO", done.stdout, re.MULTILINE | re.DOTALL)[1])
    shown = run_all(installed, ["gcc", "-Wall", "-Wextra", "-Werror", source, "-o", program,
                                *pkg_config(installed, "--cflags", "--libs")], [program])
    assert re.fullmatch(r"\d+ bytes went back\n", shown), shown


def build_environment(installed):
    """What a build needs to find, and to run with, a libqa that is not where the system looks."""
    return clean_environment(PKG_CONFIG_PATH=only(installed, "libqa.pc").parent, PKG_CONFIG_SYSROOT_DIR=installed,
                             LD_LIBRARY_PATH=only(installed, "libqa.so").parent, QA_AGENT="off")


def pkg_config(installed, *arguments, module="libqa"):
    done = subprocess.run(["pkg-config", *arguments, module], check=True, capture_output=True, text=True,
                          env=build_environment(installed))
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


def run_all(installed, *commands, text=""):
    for command in commands:
        done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, timeout=120,
                              env=build_environment(installed))
        assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_cmake_project_finds_it(installed, tmp_path):
    shown = run_all(installed, ["cmake", "-S", EXAMPLES / "with-cmake", "-B", tmp_path, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"],
                    ["cmake", "--build", tmp_path], [tmp_path / "pools"])
    assert re.search(r"^busy +requests +20000 blocks of 48 bytes", shown, re.MULTILINE), shown
    assert len(re.findall(r"^trimmed +(sessions|requests) +0 blocks of 48 bytes, 0 KiB held$", shown, re.MULTILINE)) == 2, shown


def test_a_meson_project_finds_it(installed, tmp_path):
    shown = run_all(installed, ["meson", "setup", "--werror", tmp_path, EXAMPLES / "with-meson"],
                    ["meson", "compile", "-C", tmp_path], [tmp_path / "words"], text="to be or not to be, that is to say")
    assert shown.splitlines()[0].split() == ["3", "to"]
    assert re.search(r"^counted +used [1-9]", shown, re.MULTILINE) and "trimmed  used 0 bytes, cached 0 bytes" in shown, shown


def test_a_program_on_boost_needs_an_include_path_only(installed, tmp_path):
    source, program = tmp_path / "program.cpp", tmp_path / "program"
    source.write_text(BOOST_PROGRAM)
    flags = pkg_config(installed, "--cflags", "--libs", module="libqa-boost")
    run_all(installed, ["g++", *WARNINGS, source, "-o", program, *flags], [program])
    variable = pkg_config(installed, "--variable=boost_includedir")[0]
    assert only(installed, "quick_allocator.hpp") == pathlib.Path(variable) / "boost/smart_ptr/detail/quick_allocator.hpp"
    # The path of Boost's header alone is enough, wherever qa.h is.
    run_all(installed, ["g++", *WARNINGS, "-fsyntax-only", source, "-I", only(installed, "qa-boost")])


def test_uninstall_leaves_nothing(tmp_path):
    """Asked of ninja, as README.md says; it knows what was installed last."""
    folder = tmp_path / "root"
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder], check=True, capture_output=True)
    assert list(folder.rglob("qa.hpp"))
    subprocess.run(["ninja", "-C", BUILD, "uninstall"], check=True, capture_output=True)
    assert [path for path in folder.rglob("*") if not path.is_dir()] == []
