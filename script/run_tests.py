#!/usr/bin/python3
"""The steps of script/test: what is built, what is run, and what needs what. script/test explains the whole and starts it."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys

import count_results
import run_steps
from run_steps import Step

REPO = pathlib.Path(__file__).resolve().parents[1]
RESULTS = REPO / "build-results"
FUZZ_SECONDS = os.environ.get("QA_FUZZ_SECONDS", "60")
FUZZERS = sorted(path.stem.removeprefix("fuzz_") for path in (REPO / "tests" / "fuzz").glob("fuzz_*.c"))
PROCESSORS = os.cpu_count() or 1
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# Configures a folder when that was not done yet, and builds.
BUILD = """
folder=$1 compiler=$2 target=$3 jobs=$4
shift 4
if [[ ! -f $folder/build.ninja ]]; then
	rm -rf "$folder"
	CC=$compiler meson setup "$folder" "$@"
fi
ninja -j "$jobs" -C "$folder" "$target"
"""


def folder_of(name):
    return "build" if name == "gcc" else f"build-{name}"


def build(name, *options, compiler="gcc", target="all", jobs=1):
    return Step(f"build-{name}", ["bash", "-ec", BUILD, "build", folder_of(name), compiler, target, str(jobs), *options],
                processors=jobs)


def unit(name, *suites, wrapper=(), multiplier=1):
    """The cmocka tests of a build: of all suites, or of these."""
    folder = folder_of(name)
    return Step(f"unit-{name}", [*wrapper, "meson", "test", "-C", folder, *[f"--suite={suite}" for suite in suites],
                                 "--no-rebuild", "--print-errorlogs", "--num-processes=1",
                                 f"--timeout-multiplier={multiplier}"],
                needs=(f"build-{name}",), junit=f"{folder}/meson-logs/testlog.junit.xml")


def end_to_end(step_name, name, *options, wrapper=(), **environment):
    """They wait for others half of their time."""
    junit = RESULTS / f"{step_name}.xml"
    return Step(step_name, [*wrapper, sys.executable, "-m", "pytest", "tests/e2e", "-q", "--durations=20",
                            f"--junitxml={junit}", *options],
                needs=(f"build-{name}",), junit=junit, processors=0.5,
                environment={"QA_BUILD": folder_of(name), **environment})


def fuzz(name):
    corpus = RESULTS / f"corpus-{name}"
    corpus.mkdir()
    kept = REPO / "tests" / "fuzz" / "corpus" / name
    return Step(f"fuzz-{name}", [f"build-fuzz/tests/fuzz/fuzz_{name}", f"-max_total_time={FUZZ_SECONDS}", "-timeout=10",
                                 "-rss_limit_mb=2048", f"-artifact_prefix={RESULTS}/fuzz-{name}-", corpus,
                                 *([kept] if kept.is_dir() else [])],
                needs=("build-fuzz",))


def sanitizer_wrapper():
    """
    What programs of a sanitizer build are started with. Sanitizers of gcc 12 and clang 14 want the address space where older
    kernels put it. Where this kernel spreads it wider, their programs run without its randomisation; where that is not allowed
    either, the steps fail and say so.
    """
    program = RESULTS / "sanitizer-probe"
    subprocess.run(["gcc", "-fsanitize=thread", "-x", "c", "-", "-o", program], check=True, text=True,
                   input="int main(void) { return 0; }")
    if all(subprocess.run([program], capture_output=True).returncode == 0 for _ in range(8)):
        return []
    wrapper = ["setarch", platform.machine(), "-R"]
    return wrapper if subprocess.run([*wrapper, "true"], capture_output=True).returncode == 0 else []


def quick_steps():
    return [build("gcc", jobs=PROCESSORS), end_to_end("end-to-end", "gcc"), unit("gcc"), Step("format", ["script/format", "--check"])]


def all_steps():
    """In the order in which they start when they can: what the longest chains begin with comes first."""
    wrapper = sanitizer_wrapper()
    sanitizers = "-Db_sanitize=address,undefined"
    return [
        build("gcc"),
        build("asan", sanitizers),
        end_to_end("end-to-end-asan", "asan", "-m", "not plain_only", wrapper=wrapper, QA_SANITIZED="1"),
        end_to_end("end-to-end", "gcc"),
        build("fuzz", "-Dfuzz=true", sanitizers, "-Db_lundef=false", compiler="clang", target="fuzzers"),
        build("tsan", "-Db_sanitize=thread", target="meson-test-prereq"),
        unit("tsan", wrapper=wrapper, multiplier=10),
        unit("asan", wrapper=wrapper, multiplier=5),
        unit("gcc"),
        build("clang", compiler="clang"),
        unit("clang", "unit"),
        Step("tidy", ["script/tidy", "build-clang"], needs=("build-clang",), environment={"QA_JOBS": "1"}),
        Step("format", ["script/format", "--check"]),
        *[fuzz(name) for name in FUZZERS],
    ]


def main(is_quick):
    os.chdir(REPO)
    os.environ.update(ENVIRONMENT)
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir()
    run_steps.run(quick_steps() if is_quick else all_steps(), RESULTS, PROCESSORS)
    print()
    return count_results.main(RESULTS / "steps")


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv[1:]))
