"""What a run meets that Paddle does otherwise stands on stderr and in JSON, and fits the schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line

from .conftest import Run, Write

NET = """\
import paddle
x = paddle.to_tensor([[1.0, 2.0], [0.5, 1.0]], stop_gradient=False)
label = paddle.to_tensor([0, 1])
loss = paddle.nn.functional.cross_entropy(x, label, ignore_index=1, label_smoothing=0.1)
loss.backward()
"""


@pytest.mark.parametrize("command", ["backward", "why", "nan", "stats --memory", "stats", "flow"])
def test_a_command_says_it_on_stderr_and_in_json(gradtool: Run, model: Write, command: str) -> None:
    outcome = gradtool(command, model(NET), "--format", "json")
    answer = json.loads(outcome.out)
    assert [entry["name"] for entry in answer["unlike_paddle"]] == ["ignored labels smoothed"]
    schema = Path(command_line.__file__).parent / "schemas" / f"{answer['schema'].split('/')[1]}.json"
    jsonschema.validate(answer, json.loads(schema.read_text(encoding="utf-8")))
    plain = gradtool(command, model(NET.replace(", ignore_index=1", "")), "--format", "json")
    assert "unlike_paddle" not in json.loads(plain.out)
