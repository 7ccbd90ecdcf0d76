"""Files are told from the working folder, whichever it is when they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.core.source import file_named


def test_a_file_is_told_from_the_folder_that_is_the_working_folder_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, other = tmp_path / "a", tmp_path / "b"
    inner.mkdir()
    other.mkdir()
    path = str(inner / "model.py")
    told = []
    for folder in (tmp_path, inner, other, tmp_path):
        monkeypatch.chdir(folder)
        told.append(file_named(path))
    assert told == ["a/model.py", "model.py", path, "a/model.py"]
