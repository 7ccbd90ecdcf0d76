"""Files that an earlier version wrote are read (docs/stability.md); one folder of ``golden/kept`` is one version."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run

KEPT = Path(__file__).parent / "golden" / "kept"
VERSIONS = sorted(each.name for each in KEPT.iterdir())


@pytest.fixture(params=VERSIONS)
def kept(request: pytest.FixtureRequest, folder: Path) -> Path:
    """A version's files, in the working folder."""
    shutil.copytree(KEPT / request.param, folder, dirs_exist_ok=True)
    return folder


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("debug --replay session.jsonl --check", "1 cell as saved"),
        ("diff session.jsonl model.py", "no differences"),
        ("diff dump model.py", "no differences"),
        ("diff graph.gt.txt model.py", "no differences"),
        ("check model.py --golden graph.gt.txt --select GT4", "No findings: 1 model, 5 rules"),
    ],
)
def test_what_was_written_is_read(line: str, told: str, kept: Path, gradtool: Run) -> None:
    done = gradtool(*line.split())
    assert (done.code, done.err.count("error")) == (0, 0)
    assert told in done.out + done.err


def test_a_sweep_goes_on_with_its_rows(kept: Path, gradtool: Run) -> None:
    before = (kept / "rows.jsonl").read_text(encoding="utf-8")
    done = gradtool("sweep", "nan", "model.py", "--seeds", "0..4", "--results", "rows.jsonl", "--resume")
    assert done.code == 0, done.err
    after = (kept / "rows.jsonl").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert {json.loads(row)["seed"] for row in after.splitlines()} == {0, 1, 2, 3, 4}


def test_what_a_later_version_wrote_is_refused_by_its_number_and_stays(kept: Path, gradtool: Run) -> None:
    later = (kept / "session.jsonl").read_text(encoding="utf-8").replace("gradtool/session/1", "gradtool/session/7", 1)
    (kept / "session.jsonl").write_text(later, encoding="utf-8")
    done = gradtool("debug", "--replay", "session.jsonl")
    assert done.code == 2
    assert "gradtool/session/7" in done.err
    assert (kept / "session.jsonl").read_text(encoding="utf-8") == later
