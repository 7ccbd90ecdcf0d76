"""How many threads products of matrices are computed on: said by an option, by the environment, and for workers."""

from __future__ import annotations

import os
import sys

import pytest
import threadpoolctl

from gradtool.engine.core.errors import UsageError
from gradtool.engine.kernels import threads
from gradtool.engine.script.processes import Process


def counts() -> set[int]:
    """The threads of NumPy's libraries in this process."""
    return {library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"}


def test_a_limit_holds_inside() -> None:
    before = counts()
    with threads.limit_threads(1):
        assert counts() == {1}
    with threads.limit_threads(None):
        assert counts() == before
    assert counts() == before


def test_the_environment_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(threads.SETTING, raising=False)
    assert threads.environment_count() is None
    with threadpoolctl.threadpool_limits(None):  # puts back what was
        monkeypatch.setenv(threads.SETTING, "1")
        threads.follow_environment()
        assert counts() == {1}


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "٣"])
def test_what_is_no_number_of_threads_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(threads.SETTING, text)
    with pytest.raises(UsageError, match=r"no number of threads\n.*GRADTOOL_THREADS=1"):
        threads.environment_count()


@pytest.mark.parametrize(("setting", "expected"), [(None, "1"), ("3", "3")])
def test_processes_for_models_have_one_unless_told(
    monkeypatch: pytest.MonkeyPatch, setting: str | None, expected: str
) -> None:
    for name in [n for n in os.environ if n.endswith("_THREADS")]:
        monkeypatch.delenv(name)
    if setting is not None:
        monkeypatch.setenv(threads.SETTING, setting)
    process = Process("json.tool")
    process._words = [sys.executable, "-c", _TELLS]
    try:
        process.ask({})
        assert process.answer() == [expected, expected]
    finally:
        process.end()


_TELLS = """
import json, os
print("ready", flush=True)
input()
print(json.dumps([os.environ["GRADTOOL_THREADS"], os.environ["OPENBLAS_NUM_THREADS"]]), flush=True)
"""
