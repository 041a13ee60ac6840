"""Quick real programs on libqa_malloc.so; script/compat runs the long ones too."""

import pytest

import compat

pytestmark = pytest.mark.plain_only  # a sanitizer has a malloc of its own


@pytest.mark.parametrize("case", [case for case in compat.CASES if case.is_quick], ids=lambda case: case.name)
def test_the_program_does_the_same_on_libqa(case, qad, socket_path, tmp_path):
    assert compat.missing(case) == [], "needed for this test"
    watch, _ = compat.check(case, tmp_path, socket_path)
    if case.name not in ("ls", "gcc, a file of libqa", "bash, pipelines"):  # may be over before the first look
        assert watch.looks > 0 and watch.trims > 0
