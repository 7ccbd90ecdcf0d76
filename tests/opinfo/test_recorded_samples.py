"""Small samples of PyTorch's generators, with what PyTorch computed: values, types, gradients of both orders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

from . import wire
from .adapters import ADAPTERS
from .decided import reason
from .judging import difference, verdict
from .replaying import Replay

FILE = Path(__file__).with_name("samples.json")
SAMPLES = [wire.unpacked(wire.read(text)) for text in json.loads(FILE.read_text(encoding="utf-8"))]


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


@pytest.mark.parametrize("message", SAMPLES, ids=[f"{m['op']} {m['type']}" for m in SAMPLES])
def test_a_sample_is_right(message: dict[str, Any]) -> None:
    assert verdict(message, Replay(paddle, message).answer()) == ("right", "")


def test_the_samples_are_of_operators_of_the_table() -> None:
    names = {m["op"] for m in SAMPLES}
    assert names <= {*ADAPTERS}
    assert len(names) > 80


def test_a_wrong_number_a_wrong_type_and_a_missing_gradient_are_seen() -> None:
    right = {"results": [np.array([1.0, 2.0])], "first": [np.array([3.0])]}
    assert not difference(right, right)
    assert "values" in difference(right | {"results": [np.array([1.0, 2.1])]}, right)
    assert "dtype" in difference(right | {"results": [np.array([1.0, 2.0], "float32")]}, right)
    assert "no gradient" in difference(right | {"first": [None]}, right)


def test_differences_that_stay_have_a_reason() -> None:
    assert reason("lerp", "first[2] values: one is no gradient") or reason("lerp", "first[2] values")
    assert not reason("lerp", "first[0] values")
