"""How long OpenBLAS's threads wait awake: told once, taken from the user, and left alone where it could do harm."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

from gradtool.engine.kernels import waiting


@pytest.fixture(autouse=True)
def no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(waiting.SETTING, raising=False)


def libraries() -> set[str]:
    """The files of OpenBLAS, as another package finds them."""
    every = threadpoolctl.threadpool_info()
    return {os.path.realpath(library["filepath"]) for library in every if library["internal_api"] == "openblas"}


@pytest.mark.skipif(not Path(waiting.MAPS).exists(), reason="another system than Linux")
def test_libraries_are_found_and_products_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # those of other tests compute nothing
    assert {os.path.realpath(path) for path in waiting.find_libraries()} >= libraries()
    a = np.random.default_rng(0).standard_normal((300, 300))
    before = a @ a
    assert waiting.wait_briefly() >= len(libraries())
    assert waiting.SETTING not in os.environ
    assert (a @ a == before).all()
    with threadpoolctl.threadpool_limits(1):
        assert np.allclose(a @ a, before)
    assert (a @ a == before).all()


def test_a_setting_of_the_user_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(waiting.SETTING, "26")
    assert waiting.wait_briefly() == 0


def test_nothing_is_done_beside_another_thread() -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert waiting.wait_briefly() == 0
    finally:
        done.set()
        other.join()


def test_where_libraries_cannot_be_listed_nothing_is_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(waiting, "MAPS", str(tmp_path / "maps"))
    assert waiting.wait_briefly() == 0


def test_another_build_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "libopenblas.so").write_bytes(b"no library")
    maps = tmp_path / "maps"
    maps.write_text(f"7f00-7f01 r--p 00000000 00:00 1    {tmp_path / 'libopenblas.so'}\n")
    monkeypatch.setattr(waiting, "MAPS", str(maps))
    assert list(waiting.find_libraries()) == [str(tmp_path / "libopenblas.so")]
    assert waiting.wait_briefly() == 0
