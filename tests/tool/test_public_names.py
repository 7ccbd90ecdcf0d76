"""The names of ``import gradtool``: those of the tool, few, and each of them there."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import gradtool

MOST = 30


def test_there_are_few_names_and_they_are_listed() -> None:
    assert len(dir(gradtool)) <= MOST
    assert {*dir(gradtool)} == {*gradtool.__all__, "__version__"}
    assert {*gradtool.__all__} == {*gradtool.NAMES, *gradtool.PARTS, "as_paddle"}


@pytest.mark.parametrize("name", gradtool.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(gradtool, name) is not None


@pytest.mark.parametrize("name", gradtool.NAMES)
def test_a_name_is_defined_where_the_table_says(name: str) -> None:
    home = importlib.import_module(gradtool.NAMES[name])
    assert getattr(gradtool, name) in vars(home).values()


def test_names_of_paddle_are_in_another_module() -> None:
    with pytest.raises(AttributeError, match=r"'nn': that is one of Paddle's names\. from gradtool import paddle"):
        gradtool.nn  # type: ignore[attr-defined]  # noqa: B018
    assert gradtool.paddle.nan != gradtool.paddle.nan, "Paddle's nan is a number; gradtool.nan finds one"
    assert callable(gradtool.nan)


def test_a_name_that_nobody_has_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="module 'gradtool' has no attribute 'lod'"):
        gradtool.lod  # type: ignore[attr-defined]  # noqa: B018


def test_one_object_under_both_imports() -> None:
    script = "import gradtool; gradtool.as_paddle(); import paddle; assert paddle is gradtool.paddle"
    subprocess.run([sys.executable, "-c", script], check=True)
