"""What is kept for the next process: shown, deleted, and nothing else with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_what_is_kept_is_shown_and_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gradtool: Run) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert gradtool("self", "cache").out.startswith("kept: –\n")
    home = tmp_path / "gradtool"
    for name, length in (("numba/a.compiled", 1000), ("jax/deep/b-cache", 20), ("names/d.json", 4), ("other/c", 7)):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_bytes(bytes(length))
    told = gradtool("self", "cache").out
    assert "kept: 3 files, 1 KiB" in told
    assert "gradtool self cache clear" in told
    assert "deleted: 3 files, 1 KiB" in gradtool("self", "cache", "clear").out
    assert [p.name for p in home.rglob("*") if p.is_file()] == ["c"]
    assert "kept: –\n" in gradtool("self", "cache").out
