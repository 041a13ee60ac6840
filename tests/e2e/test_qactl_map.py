"""qactl map: the picture of a fake target to the letter, and of a real one whose pages are known."""

import pytest

import fake_qad
from fake_qad import DOCVIEW, Error, fake, raising  # noqa: F401, a fixture
from harness import wait_until

MIB = 1 << 20


def row(block_size, tenths, empty=0, name=""):
    """A class of which so many pages are so full: {tenth: (pages, out, free)}."""
    columns = [[tenths.get(i, (0, 0, 0))[part] for i in range(10)] for part in range(3)]
    return {"block_size": block_size, "name": name, "pages": sum(columns[0]), "empty_pages": empty,
            **dict(zip(("tenth_pages", "tenth_out_bytes", "tenth_free_bytes"), columns))}


CLASSES = [row(4096, {9: (8, MIB, 0)}), row(48, {0: (70, 46_080, 4 * MIB), 4: (10, MIB // 4, MIB // 4), 9: (20, 2 * MIB, 0)}, empty=3),
           row(48, {0: (1, 48, 65_000)}, name="no\x1bdes")]


def answer(classes):
    return lambda params: {**DOCVIEW, "page_size": 65_536, "classes": classes}


PICTURE = """\
docview (editor), pid 4242, pages of 64.0 KiB: 109 with a block out, 3 empty

BLOCK  PAGES  EMPTY  EMPTY-FULL      OUT  FREE BESIDE  POOL
   48    100      3  #...:....:  2.3 MiB      4.2 MiB
   48      1      0  @.........     48 B     63.5 KiB  no\\x1bdes
 4096      8      0  .........@  1.0 MiB          0 B

PAGES FULL TO    PAGES         OUT  FREE BESIDE
    0 -  10 %       71    45.0 KiB      4.1 MiB  @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
   10 -  20 %        0         0 B          0 B
   20 -  30 %        0         0 B          0 B
   30 -  40 %        0         0 B          0 B
   40 -  50 %       10   256.0 KiB    256.0 KiB  @@
   50 -  60 %        0         0 B          0 B
   60 -  70 %        0         0 B          0 B
   70 -  80 %        0         0 B          0 B
   80 -  90 %        0         0 B          0 B
   90 - 100 %       28     3.0 MiB          0 B

4.3 MiB are free in pages that also have blocks out. 4.1 MiB of it lie in 71 pages at most 10 % full,
pinned by 45.0 KiB of blocks. A trim returns of such pages each 4 KiB that no block touches; the rest
comes back when these blocks are freed.
3 pages have no block out: 'qactl trim 4242' returns them.
"""


def test_the_picture(fake, qactl):
    fakes = fake(map=answer(CLASSES))
    result = qactl("map", "editor", LC_ALL="C")
    assert (result.code, result.err, result.out) == (0, "", PICTURE)
    assert fakes.asked[-1] == ("map", {"pid": 4242})
    assert "\u2593\u00b7\u00b7\u00b7\u2591\u00b7\u00b7\u00b7\u00b7\u2591" in qactl("map", "editor", LC_ALL="C.UTF-8").out


@pytest.mark.parametrize("last,says", [(200_000, "380.9 KiB of it lie in 19 pages at most 80 % full,\npinned by 10.8 KiB"),
                                       (190_000, "185.5 KiB of it lie in 10 pages at most 30 % full,\npinned by 2.1 KiB")])
def test_the_emptiest_pages_that_have_half_of_what_is_free(fake, qactl, last, says):
    fake(map=answer([row(48, {0: (4, 100, 100_000), 2: (6, 2_000, 90_000), 7: (9, 9_000, last)})]))
    assert says in qactl("map", "4242").out


def test_one_class_and_json(fake, qactl):
    fake(map=answer(CLASSES))
    result = qactl("map", "4242", "--class", "4096", LC_ALL="C")
    assert "4096" in result.out and " 48 " not in result.out and "well filled" in result.out and "no block out" not in result.out
    figures = qactl("map", "4242", "--json").json
    assert figures["classes"] == [CLASSES[1], CLASSES[2], CLASSES[0]]
    assert {key: figures[key] for key in ("pid", "command", "name", "page_size")} == {
        "pid": 4242, "command": "docview", "name": "editor", "page_size": 65_536}
    result = qactl("map", "4242", "--class", "64")
    assert (result.code, result.out) == (67, "") and "no pages of blocks of 64 bytes" in result.err


@pytest.mark.parametrize("classes,says", [([], "nothing keeps a page"), ([row(48, {}, empty=1)], "1 page has no block out"),
                                          ([row(48, {9: (1, 65_000, 500)})], "500 B are free")])
def test_little_to_see(fake, qactl, classes, says):
    fake(map=answer(classes))
    result = qactl("map", "4242")
    assert result.code == 0 and says in result.out


@pytest.mark.parametrize("change", [{"tenth_pages": [0] * 9}, {"tenth_pages": [0] * 11}, {"tenth_out_bytes": [-1] + [0] * 9},
                                    {"tenth_free_bytes": 7}, {"pages": None}])
def test_answers_that_make_no_sense(fake, qactl, change):
    fake(map=answer([{**CLASSES[0], **change}]))
    result = qactl("map", "4242")
    assert result.code == 76 and result.out == "" and "not understood" in result.err


def test_errors(fake, qactl):
    fakes = fake(map=raising(Error("unknown_method")))
    assert qactl("map", "4242").code == 76
    fakes.answers["map"] = raising(Error("timeout"))
    assert qactl("map", "4242").code == 75
    fakes.answers["map"] = raising(Error("gone"))
    assert qactl("map", "4242").code == 67
    assert qactl("map").code == 64


@pytest.mark.plain_only
def test_a_real_target(qad, target, qactl):
    """Every hundredth block of 48 bytes stays: pages about one percent full, and their free bytes are the class's partial."""
    doc = target(QA_NAME="doc")
    wait_until(lambda: qactl("stats", "doc").code == 0, what="the target")
    doc.ask("malloc 1 100000 48")
    doc.ask("free 1 100")
    assert qactl("trim", "doc").code == 0
    (found,) = [one for one in qactl("map", "doc", "--json").json["classes"] if one["block_size"] == 48]
    (known,) = [one for one in qactl("stats", "doc", "--json").json["classes"] if one["block_size"] == 48]
    assert found["tenth_pages"] == [found["pages"], *[0] * 9] and found["pages"] == known["pages"] > 70
    assert sum(found["tenth_out_bytes"]) == known["used_bytes"] == 48_000
    assert sum(found["tenth_free_bytes"]) == known["partial_bytes"]
    assert f"in {found['pages']} pages at most 10 % full" in qactl("map", "doc", "--class", "48").out
