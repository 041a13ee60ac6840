"""The model of the biased lock: spin goes through all of its states, and finds what is wrong with each mutant."""

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.plain_only  # the build does not matter

MODEL = Path(__file__).resolve().parents[1] / "model" / "biased_lock.pml"


def verify(folder, *defines):
    """Runs spin in a folder for its files; returns the number of errors and all it printed."""
    command = ["spin", *defines, "-run", "-safety", "-m1000000", str(MODEL)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    output = done.stdout + done.stderr
    errors = re.search(r"errors: (\d+)", output)
    assert errors, output
    return int(errors.group(1)), output


def test_the_lock_holds(tmp_path):
    errors, output = verify(tmp_path)
    assert errors == 0, output
    assert "max search depth too small" not in output, output
    assert int(re.search(r"(\d+) states, stored", output).group(1)) > 100_000, output


@pytest.mark.parametrize("mutant", ["NO_BARRIER", "NO_WAIT", "NO_HANDOVER"])
def test_a_mutant_is_found(tmp_path, mutant):
    errors, output = verify(tmp_path, f"-D{mutant}")
    assert errors > 0, output
    assert "assertion violated" in output, output
