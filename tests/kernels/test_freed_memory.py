"""What the allocator is told, and when it is left alone."""

from __future__ import annotations

import os

import pytest

from gradtool.engine.kernels import memory


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith("MALLOC_") or n == "GLIBC_TUNABLES"]:
        monkeypatch.delenv(name)


def test_settings_of_the_user_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    assert not memory.keep_freed_memory()


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> str:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "confstr", unknown, raising=False)
    assert not memory.keep_freed_memory()


def test_asking_twice_changes_nothing() -> None:
    assert memory.keep_freed_memory() == memory.keep_freed_memory()
