"""The C++ front end and the one for Boost: by both compilers, in every standard, without a warning."""

import os
import pathlib
import signal
import subprocess

import pytest

from conftest import BUILD, REPO, clean_environment

pytestmark = pytest.mark.plain_only  # programs of their own, linked to the library

SOURCES = REPO / "tests" / "e2e" / "cpp"
INCLUDE = REPO / "libqa" / "include"
LIBRARY = BUILD / "libqa"
COMPILERS = ("g++", "clang++")
STANDARDS = ("11", "14", "17", "20", "2b")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast",
            "-Woverloaded-virtual", "-Wnon-virtual-dtor", "-Wundef", "-Werror"]
# Another Boost than the system's can be named: the folder in which its folder boost is.
BOOSTS = [None, *filter(None, os.environ.get("QA_TEST_BOOST", "").split(":"))]


def compile_program(folder, compiler, standard, names, *options, boost=None, warnings=WARNINGS):
    program = folder / pathlib.Path(names[0]).stem
    paths = ["-I", INCLUDE / "qa-boost", "-I", INCLUDE, *(["-isystem", boost] if boost else [])]
    done = subprocess.run([compiler, f"-std={standard}", "-O2", *warnings, *paths, *options,
                           *(SOURCES / name for name in names), "-o", program, f"-L{LIBRARY}", "-lqa", "-ldl"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return program


def run(program, *arguments, wrapper=(), **environment):
    return subprocess.run([*wrapper, program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, env=clean_environment(LD_LIBRARY_PATH=LIBRARY, QA_AGENT="off", **environment))


def unspread():
    """What runs a sanitizer's program where the kernel spreads addresses wider than it can bear; script/test does the same."""
    wrapper = ["setarch", "-R"]
    return wrapper if subprocess.run([*wrapper, "true"], stderr=subprocess.DEVNULL).returncode == 0 else []


def assert_ok(done):
    assert done.returncode == 0 and done.stderr == "" and done.stdout == "ok\n", done


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_containers_pointers_and_pools(tmp_path, compiler, standard):
    assert_ok(run(compile_program(tmp_path, compiler, f"c++{standard}", ["containers.cpp"])))


@pytest.mark.parametrize("standard", [STANDARDS[0], "17", STANDARDS[-1]])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_name_is_ambiguous_beside_std_and_boost(tmp_path, compiler, standard):
    assert_ok(run(compile_program(tmp_path, compiler, f"c++{standard}", ["clash.cpp"])))


@pytest.mark.parametrize("standard", ["11", "17"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_without_exceptions_and_type_information(tmp_path, compiler, standard):
    program = compile_program(tmp_path, compiler, f"c++{standard}", ["no_exceptions.cpp"], "-fno-exceptions", "-fno-rtti")
    assert_ok(run(program))
    for what, message in (("allocate", "std::bad_alloc"), ("length", "std::bad_array_new_length"),
                          ("pool", "qa::pool strings: File exists")):
        done = run(program, what)
        assert done.returncode == -signal.SIGABRT and message in done.stderr and done.stdout == "", done


@pytest.mark.parametrize("standard", ["c11", "c17", "gnu11"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_c_header_has_no_warning(tmp_path, compiler, standard):
    warnings = [word for word in WARNINGS if word not in ("-Wold-style-cast", "-Woverloaded-virtual", "-Wnon-virtual-dtor")]
    compile_program(tmp_path, compiler, standard, ["plain.c"], warnings=[*warnings, "-Wstrict-prototypes"])
    assert_ok(run(tmp_path / "plain"))


@pytest.mark.parametrize("boost", BOOSTS)
@pytest.mark.parametrize("compiler, standard", [("g++", "gnu++98"), ("g++", "c++11"), ("g++", "c++20"),
                                                ("clang++", "gnu++98"), ("clang++", "c++17"), ("clang++", "c++2b")])
def test_control_blocks_of_boost_cost_their_size_and_go_back(tmp_path, compiler, standard, boost):
    """In C++98 qa.h itself is not free of extensions."""
    warnings = ["-Wall", "-Wextra", "-Werror"] if standard == "gnu++98" else WARNINGS
    assert_ok(run(compile_program(tmp_path, compiler, standard, ["boost_blocks.cpp"], boost=boost, warnings=warnings)))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_control_blocks_of_boost_without_exceptions(tmp_path, compiler):
    """Boost wants a function of the program's then, where it would throw."""
    thrower = tmp_path / "thrower.cpp"
    thrower.write_text("#include <boost/throw_exception.hpp>\n#include <cstdlib>\n"
                       "void boost::throw_exception(const std::exception &) { std::abort(); }\n"
                       "void boost::throw_exception(const std::exception &, const boost::source_location &) { std::abort(); }\n")
    assert_ok(run(compile_program(tmp_path, compiler, "c++17", ["boost_blocks.cpp", thrower], "-fno-exceptions")))


@pytest.mark.parametrize("program", ["containers.cpp", "clash.cpp", "boost_blocks.cpp"])
def test_with_sanitizers_and_with_guarded_blocks(tmp_path, program):
    sanitized = compile_program(tmp_path, "g++", "c++17", [program], "-fsanitize=address,undefined",
                                "-fno-sanitize-recover=all", warnings=["-Wall"])
    assert_ok(run(sanitized, wrapper=unspread()))
    assert_ok(run(compile_program(tmp_path, "g++", "c++17", [program]), QA_CHECK="1"))


@pytest.mark.parametrize("boost", BOOSTS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_static_objects_may_hold_pointers_to_the_end(tmp_path, compiler, boost):
    """Either order of construction, so of destruction, and a library that is closed or still there at exit."""
    plugin = compile_program(tmp_path, compiler, "c++11", ["boost_exit_plugin.cpp"], "-shared", "-fPIC", boost=boost)
    for units in (["boost_exit_one.cpp", "boost_exit_other.cpp"], ["boost_exit_other.cpp", "boost_exit_one.cpp"]):
        program = compile_program(tmp_path, compiler, "c++11", ["boost_exit_main.cpp", *units], boost=boost)
        for what in ("keep", "close"):
            done = run(program, plugin, what)
            assert done.returncode == 0 and done.stderr == "", done
            before_end, after_end = (part.split("\n") for part in done.stdout.split("end\n"))
            told = sorted(filter(None, before_end + after_end))
            assert told == ["at once", "in main", "one", "other", "plugin", "taken"]
            assert ("plugin" in before_end) == (what == "close")
