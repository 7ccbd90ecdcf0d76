"""What is kept for the next process: whole or not at all, and not without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradtool.engine.files import sealed, user_cache


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gradtool"


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", bytes(range(256))])
def test_what_is_kept_comes_back(content: bytes, home: Path) -> None:
    user_cache.keep("names", "a", content)
    assert user_cache.read("names", "a") == content
    assert os.listdir(home / "names") == ["a"]


@pytest.mark.parametrize("broken", [b"", b"content", sealed.sealed(b"content")[:-1], sealed.sealed(b"content") + b"s"])
def test_what_is_not_whole_is_none(broken: bytes, home: Path) -> None:
    user_cache.keep("names", "a", b"content")
    (home / "names" / "a").write_bytes(broken)
    assert user_cache.read("names", "a") is None
    assert user_cache.read("names", "b") is None


def test_the_folder_is_where_the_system_has_such_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_cache.folder("jax") == tmp_path / "gradtool" / "jax"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache.folder("jax") == tmp_path / ".cache" / "gradtool" / "jax"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert user_cache.folder("jax") == tmp_path / "local" / "gradtool" / "jax"


def test_a_folder_is_bounded(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(user_cache, "LIMIT", 4000)
    for i in range(12):
        user_cache.keep("names", f"k{i}", bytes(500))
        os.utime(home / "names" / f"k{i}", (i, i))
    left = {*os.listdir(home / "names")}
    assert "k11" in left
    assert "k0" not in left
    assert sum(p.stat().st_size for p in (home / "names").iterdir()) <= 4000
    assert user_cache.read("names", "k11") == bytes(500)
