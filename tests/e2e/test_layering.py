"""Arrows point one way: proto <- libqa, qad, qactl. libqa does not know libuv; qad and qactl do not know libqa."""

import re
import subprocess

import pytest

from harness import BUILD, REPO

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
MAY_USE = {"proto": {"proto"}, "libqa": {"libqa", "proto"}, "qad": {"qad", "proto"}, "qactl": {"qactl", "proto"}}


def sources(part):
    found = [path for path in (REPO / part).rglob("*") if path.suffix in (".c", ".h", ".hpp")]
    assert found, f"no sources in {part}"
    return found


def headers_by_part():
    return {part: {path.name for path in sources(part) if path.suffix != ".c"} for part in MAY_USE}


def foreign_includes(part, headers):
    """Includes of a part that lead to another part which it may not use; a name of one's own comes first."""
    for path in sources(part):
        for quote, name in INCLUDE.findall(path.read_text()):
            base = name.rsplit("/", 1)[-1]
            owners = {owner for owner, names in headers.items() if base in names}
            if "/" in name:
                owners |= {owner for owner in MAY_USE if name.startswith((owner + "/", "../" + owner))}
            if owners and not owners & MAY_USE[part]:
                yield f"{path.relative_to(REPO)} includes {name} of {', '.join(sorted(owners))}"


@pytest.mark.parametrize("part", sorted(MAY_USE))
def test_a_part_includes_only_what_is_below_it(part):
    assert list(foreign_includes(part, headers_by_part())) == []


@pytest.mark.parametrize("part", ["proto", "libqa", "qactl"])
def test_libuv_is_not_known_to(part):
    users = [path.name for path in sources(part) for _, name in INCLUDE.findall(path.read_text())
             if name == "uv.h" or name.startswith("uv/")]
    assert users == []


def users_of(header, parts):
    return {path.relative_to(REPO).as_posix() for part in parts for path in sources(part)
            for _, name in INCLUDE.findall(path.read_text()) if name == header}


def test_http_stays_in_its_own_files():
    """So that a qad without libmicrohttpd and jansson is the same but for them."""
    everywhere = {"proto", "libqa", "qad", "qactl"}
    assert all(name.startswith("qad/http_") for name in users_of("microhttpd.h", everywhere))
    outside = {name for name in users_of("jansson.h", everywhere) if not name.startswith("qactl/")}
    assert outside and all(name.startswith("qad/http") for name in outside)


def test_one_file_knows_ncurses():
    """So that a qactl without it lacks the screen and nothing else."""
    assert users_of("curses.h", MAY_USE) == {"qactl/top/screen.c"}


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def needed_libraries(binary):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", binary))


def test_libqa_needs_no_library_beside_libc():
    needed = [name for name in needed_libraries(BUILD / "libqa" / "libqa.so")
              if not name.startswith(("libc.so", "ld-linux", "libasan", "libubsan", "libtsan", "libm.so"))]
    assert needed == []


@pytest.mark.parametrize("binary", ["qad/qad", "qactl/qactl"])
def test_daemon_and_client_do_not_load_libqa(binary):
    assert not [name for name in needed_libraries(BUILD / binary) if name.startswith("libqa")]


def proto_archive():
    archives = list((BUILD / "proto").glob("*.a"))
    assert len(archives) == 1, archives
    return archives[0]


@pytest.mark.plain_only  # sanitizers add data of their own
def test_proto_has_no_globals():
    """No object in a section that can be written; tables with pointers are in .data.rel.ro."""
    symbol = re.compile(r"^[0-9a-f]+ .{7} (\.(?:data|bss|tdata|tbss)\S*|\*COM\*)\t[0-9a-f]+ +(?:\.\w+ )?(\S+)$", re.MULTILINE)
    found = [name for section, name in symbol.findall(run("objdump", "-t", proto_archive()))
             if not section.startswith(".data.rel.ro") and name != section]
    assert found == []


def test_proto_does_no_input_or_output():
    calls = {"read", "write", "send", "recv", "sendmsg", "recvmsg", "poll", "ppoll", "select", "epoll_wait", "socket",
             "connect", "accept", "fopen", "printf"}
    undefined = run("nm", "-u", "-j", proto_archive()).split()
    assert "memcpy" in undefined and calls.isdisjoint(undefined)


def test_the_rule_itself_finds_what_it_forbids(tmp_path):
    """A header of libqa included by qad would be found: the check can fail."""
    headers = headers_by_part()
    name = sorted(headers["libqa"] - headers["qad"] - headers["proto"])[0]
    owners = {owner for owner, names in headers.items() if name in names}
    assert owners == {"libqa"} and not owners & MAY_USE["qad"]
