"""The C++ front end and the one for Boost: by both compilers, in every standard, without a warning.

Nearly all of the time is that of the compilers. So a test is told its programs as parameters, all that were chosen are built
by two processes while the first tests run already, and a program that two tests need is built once.
"""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import typing

import pytest

from harness import BUILD, REPO, clean_environment

pytestmark = pytest.mark.plain_only  # programs of their own, linked to the library

SOURCES = REPO / "tests" / "e2e" / "cpp"
INCLUDE = REPO / "libqa" / "include"
LIBRARY = BUILD / "libqa"
COMPILERS = ("g++", "clang++")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast",
            "-Woverloaded-virtual", "-Wnon-virtual-dtor", "-Wundef", "-Werror")
C_WARNINGS = (*(word for word in WARNINGS if word not in ("-Wold-style-cast", "-Woverloaded-virtual", "-Wnon-virtual-dtor")),
              "-Wstrict-prototypes")
# Another Boost than the system's can be named: the folder in which its folder boost is.
BOOSTS = [None, *filter(None, os.environ.get("QA_TEST_BOOST", "").split(":"))]


class Program(typing.NamedTuple):
    compiler: str
    standard: str
    names: tuple
    options: tuple = ()
    boost: typing.Optional[str] = None
    warnings: tuple = WARNINGS
    optimise: str = "-O2"

    def __str__(self):
        return "-".join([self.compiler, self.standard, pathlib.Path(self.names[0]).stem])

    def build(self, folder):
        """The path; raises what the compiler said."""
        folder.mkdir()
        path = folder / pathlib.Path(self.names[0]).stem
        includes = ["-I", INCLUDE / "qa-boost", "-I", INCLUDE, *(["-isystem", self.boost] if self.boost else [])]
        done = subprocess.run([self.compiler, f"-std={self.standard}", self.optimise, *self.warnings, *includes,
                               *self.options, *(SOURCES / name for name in self.names), "-o", path, f"-L{LIBRARY}",
                               "-lqa", "-ldl"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return path


def programs_of(item):
    """Those that a test was told, one by one or as a tuple."""
    for value in getattr(item, "callspec", None) and item.callspec.params.values() or ():
        for one in [value] if isinstance(value, Program) else value if isinstance(value, tuple) else []:
            if isinstance(one, Program):
                yield one


@pytest.fixture(scope="module")
def built(request, tmp_path_factory):
    """Gives the path of a program; all are begun at once, in the order of the tests."""
    folder = tmp_path_factory.mktemp("cpp")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        builds = {}
        for item in request.session.items:
            for program in programs_of(item):
                if program not in builds:
                    builds[program] = pool.submit(program.build, folder / str(len(builds)))
        yield lambda program: builds[program].result()
        pool.shutdown(cancel_futures=True)


def of_programs(name, values):
    return pytest.mark.parametrize(name, values, ids=lambda value: str(value) if isinstance(value, Program) else None)


def run(program, *arguments, wrapper=(), **environment):
    return subprocess.run([*wrapper, program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, env=clean_environment(LD_LIBRARY_PATH=LIBRARY, QA_AGENT="off", **environment))


def unspread():
    """What runs a sanitizer's program where the kernel spreads addresses wider than it can bear; script/test does the same."""
    wrapper = ["setarch", "-R"]
    return wrapper if subprocess.run([*wrapper, "true"], stderr=subprocess.DEVNULL).returncode == 0 else []


def assert_ok(done):
    assert done.returncode == 0 and done.stderr == "" and done.stdout == "ok\n", done


# Optimised, where calls with a constant size are inline, and not, where they are calls.
CONTAINERS = [Program(compiler, f"c++{standard}", ("containers.cpp",), optimise=optimise) for compiler in COMPILERS
              for standard, optimise in (("11", "-O0"), ("14", "-O0"), ("17", "-O2"), ("20", "-O0"), ("2b", "-O0"))]
CLASH = [Program(compiler, f"c++{standard}", ("clash.cpp",), optimise="-O0") for compiler in COMPILERS for standard in ("11", "17", "2b")]
# In C++98 qa.h itself is not free of extensions.
BLOCKS = [Program(compiler, standard, ("boost_blocks.cpp",), boost=boost,
                  warnings=("-Wall", "-Wextra", "-Werror") if standard == "gnu++98" else WARNINGS) for boost in BOOSTS
          for compiler, standard in (("g++", "gnu++98"), ("g++", "c++11"), ("g++", "c++17"), ("g++", "c++20"),
                                     ("clang++", "gnu++98"), ("clang++", "c++17"), ("clang++", "c++2b"))]


@of_programs("program", CONTAINERS)
def test_containers_pointers_and_pools(built, program):
    assert_ok(run(built(program)))


@of_programs("program", CLASH)
def test_no_name_is_ambiguous_beside_std_and_boost(built, program):
    assert_ok(run(built(program)))


@of_programs("program", [Program(compiler, f"c++{standard}", ("no_exceptions.cpp",), ("-fno-exceptions", "-fno-rtti"))
                         for compiler in COMPILERS for standard in ("11", "17")])
def test_without_exceptions_and_type_information(built, program):
    assert_ok(run(built(program)))
    for what, message in (("allocate", "std::bad_alloc"), ("length", "std::bad_array_new_length"),
                          ("pool", "qa::pool strings: File exists")):
        done = run(built(program), what)
        assert done.returncode == -signal.SIGABRT and message in done.stderr and done.stdout == "", done


@of_programs("program", [Program(compiler, standard, ("plain.c",), warnings=C_WARNINGS)
                         for compiler in ("gcc", "clang") for standard in ("c11", "c17", "gnu11")])
def test_the_c_header_has_no_warning(built, program):
    assert_ok(run(built(program)))


@of_programs("program", BLOCKS)
def test_control_blocks_of_boost_cost_their_size_and_go_back(built, program):
    assert_ok(run(built(program)))


@of_programs("program", [Program(compiler, "c++17", ("boost_blocks.cpp", "boost_thrower.cpp"), ("-fno-exceptions",))
                         for compiler in COMPILERS])
def test_control_blocks_of_boost_without_exceptions(built, program):
    assert_ok(run(built(program)))


@of_programs("program", [Program("g++", "c++17", (name,), ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
                                 warnings=("-Wall",), optimise="-O0")
                         for name in ("containers.cpp", "clash.cpp", "boost_blocks.cpp")])
def test_with_sanitizers(built, program):
    assert_ok(run(built(program), wrapper=unspread()))


@of_programs("program", [program for program in CONTAINERS + CLASH + BLOCKS if program[:2] == ("g++", "c++17")])
def test_with_guarded_blocks(built, program):
    assert_ok(run(built(program), QA_CHECK="1"))


EXIT_UNITS = (("boost_exit_one.cpp", "boost_exit_other.cpp"), ("boost_exit_other.cpp", "boost_exit_one.cpp"))


@of_programs("programs", [(Program(compiler, "c++11", ("boost_exit_plugin.cpp",), ("-shared", "-fPIC"), boost),
                           *(Program(compiler, "c++11", ("boost_exit_main.cpp", *units), (), boost) for units in EXIT_UNITS))
                          for compiler in COMPILERS for boost in BOOSTS])
def test_static_objects_may_hold_pointers_to_the_end(built, programs):
    """Either order of construction, so of destruction, and a library that is closed or still there at exit."""
    plugin = built(programs[0])
    for program in programs[1:]:
        for what in ("keep", "close"):
            done = run(built(program), plugin, what)
            assert done.returncode == 0 and done.stderr == "", done
            before_end, after_end = (part.split("\n") for part in done.stdout.split("end\n"))
            told = sorted(filter(None, before_end + after_end))
            assert told == ["at once", "in main", "one", "other", "plugin", "taken"]
            assert ("plugin" in before_end) == (what == "close")
