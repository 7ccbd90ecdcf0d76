"""``paddle.io.dataloader``: where Paddle defines what ``paddle.io`` has."""

from __future__ import annotations

import importlib

import pytest

from gradtool import paddle
from gradtool.paddle import _names_modules


@pytest.mark.parametrize("module", _names_modules.DATA)
def test_modules_have_what_the_package_has(module: str) -> None:
    home = importlib.import_module(f"gradtool.paddle.io.dataloader.{module}")
    for name in _names_modules.DATA[module].split():
        assert getattr(home, name) is getattr(paddle.io, name) is getattr(paddle.io.dataloader, name)
