"""libqa.so exports what is meant to be exported, under its own prefix, and nothing else."""

import re
import subprocess

import pytest

from harness import BUILD, REPO

LIBRARY = BUILD / "libqa" / "libqa.so"
EXPECTED = (REPO / "tests" / "e2e" / "libqa.symbols").read_text().split()


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def exported():
    """Names without versions; the version nodes themselves (type A) left out."""
    words = [line.split() for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()]
    return sorted(name.split("@")[0] for _, kind, name in words if kind != "A")


def test_the_exported_symbols_are_those_of_the_list():
    assert exported() == sorted(EXPECTED)


def test_every_public_function_of_the_header_is_exported():
    header = (REPO / "libqa" / "include" / "qa.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    declared = set(re.findall(r"^(?!static|#)[\w *]*?\b(qa_\w+)\(", header, re.MULTILINE))
    assert len(declared) >= 13
    assert declared <= set(exported()), declared - set(exported())


def test_every_name_has_the_prefix():
    assert [name for name in exported() if not name.startswith("qa_")] == []


def test_soname_and_version():
    dynamic = run("readelf", "-d", LIBRARY)
    assert re.search(r"\(SONAME\).*\[libqa\.so\.0\]", dynamic)
    assert re.search(r"NODELETE", dynamic), "libqa stays mapped: its state is never torn down"
    assert "@@" in run("nm", "-D", "--defined-only", LIBRARY), "symbols carry a version, by the version script"


@pytest.mark.plain_only  # sanitizers use destructors and their own names
def test_libqa_has_no_destructors():
    sections = run("readelf", "-SW", LIBRARY)
    size = re.search(r"\.fini_array\s+FINI_ARRAY\s+\S+\s+\S+\s+(\S+)", sections)
    # One entry is the compiler's own (__do_global_dtors_aux).
    assert not size or int(size.group(1), 16) <= 8


def test_the_header_takes_no_name_from_its_user(tmp_path):
    """The old pool had unprefixed names, such as size, which clashed with other libraries."""
    words = ("size", "block", "heap", "cache", "page", "head", "batch", "used", "held", "count", "name", "stats", "trim")
    source = tmp_path / "names.c"
    source.write_text("#include <qa.h>\n" + "".join(f"int {word};\n" for word in words))
    run("cc", "-Wall", "-Wextra", "-Werror", "-I", REPO / "libqa" / "include", "-c", source, "-o", tmp_path / "names.o")
    macros = run("cc", "-dM", "-E", "-I", REPO / "libqa" / "include", source)
    plain = set(run("cc", "-dM", "-E", "-include", "stdbool.h", "-include", "stddef.h", "-include", "stdint.h", "-x", "c",
                    "/dev/null").splitlines())
    own = [line.split()[1] for line in macros.splitlines() if line not in plain]
    assert own and [name for name in own if not name.startswith("QA_")] == []
