"""A repository of sixty models as a pipeline has it: every form of the report, and a second run from the cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gradtool.engine.gate import pool
from gradtool.engine.gate.check_result import CheckedModel, Job
from gradtool.viz import gate
from tests import repository
from tests.cli.conftest import Run

NOT_KEPT = ["ends/ends_00.py", "raises/raises_00.py", "raises/raises_01.py"]
"""Models that could not be checked, which are asked again."""


def test_the_report_is_as_reviewed_and_the_second_one_too(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``python -m tests.repository`` writes the golden files anew."""
    repository.write(folder)
    asked: list[str] = []
    check = pool.check

    def counted(jobs: Sequence[Job], side_by_side: int) -> list[CheckedModel]:
        asked.extend(job.subject.name for job in jobs)
        return check(jobs, side_by_side)

    monkeypatch.setattr(pool, "check", counted)
    assert gradtool(*repository.BASELINE).code == 0
    assert (folder / "baseline.json").read_text(encoding="utf-8") == golden("baseline.json")
    assert len(asked) == 8
    for expected in (52, len(NOT_KEPT)):
        asked.clear()
        out = folder / f"out{expected}"
        out.mkdir()
        done = gradtool(*repository.words(str(out)))
        assert done.code == 1
        assert done.out == golden("concise.txt")
        assert len(asked) == expected
        for form in gate.names():
            assert (out / f"{form}.txt").read_text(encoding="utf-8") == golden(f"{form}.txt"), form
    assert asked == NOT_KEPT
    assert not gradtool("self", "config").err


def golden(name: str) -> str:
    return (repository.GOLDEN / name).read_text(encoding="utf-8")
