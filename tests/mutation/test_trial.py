"""A change is noticed by a test that runs it, and a text that is the same by none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FILE = "engine/core/listeners.py"


@pytest.mark.parametrize(("after", "code"), [("return answer", 0), ("return None", 1)])
def test_a_change_runs_in_place_of_the_file(tmp_path: Path, after: str, code: int) -> None:
    before = (Path(__file__).parents[2] / FILE).read_text(encoding="utf-8")
    assert before.count("        return answer\n") == 1
    changed = tmp_path / "changed.py"
    changed.write_text(before.replace("return answer", after), encoding="utf-8")
    words = [sys.executable, "-m", "tests.mutation.trial", FILE, str(changed), "60", "tests/core/test_listeners.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == code, done.stdout
