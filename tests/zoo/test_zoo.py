"""Models in the styles of public ones: Paddle's losses and gradients, and commands that find nothing wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import _alias
from tests.cli.conftest import Run
from tests.sampling import sampled
from tests.zoo.measured import NAMES, RECORDED, file_of, measured

PRECISION = {"float64": 1e-6, "float32": 1e-4}
"""How far apart numbers may be, as a part of them: attributes of Paddle's operators, such as slopes, have 32 bits."""
TRUE = {"cvt": ["cvt.stage1.blocks.1.attn.conv_proj_q.conv.weight"]}
"""What is found in architectures as published: of the last block the class token alone goes on."""
COMMANDS = (["why", "--format", "json"], ["backward"], ["nan"], ["stats --memory"], ["graph", "-o", "graph.svg"])
"""What is asked: one of them of each model, or all with ``--whole``."""
FINDINGS = re.compile(r"([0-9]+) findings?\b")


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", NAMES)
def test_the_loss_and_every_gradient_are_paddles(name: str) -> None:
    expected = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    with _alias.active():
        computed = measured(name, paddle)
    precision = PRECISION[expected["dtype"]]
    assert computed["losses"] == pytest.approx(expected["losses"], rel=precision)
    assert computed["gradients"].keys() == expected["gradients"].keys()
    for label, gradients in expected["gradients"].items():
        assert _differing(computed["gradients"][label], gradients, precision) == {}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_commands_answer_and_find_nothing_wrong(gradtool: Run, name: str) -> None:
    file = str(file_of(name))
    for words in sampled(COMMANDS, lambda words: f"{words[0]} {name}", one_in=5):
        done = gradtool(words[0], file, "-q", *words[1:])
        assert done.code == 0, done.out + done.err
        if words[0] == "why":
            assert [a["name"] for a in done.data["answers"] if a["finding"]] == TRUE.get(name, [])
            continue
        assert all(int(n) <= len(TRUE.get(name, [])) for n in FINDINGS.findall(done.out)), done.out
        written = Path("graph.svg")
        assert written.exists() is (words[0] == "graph")
        assert words[0] != "graph" or written.read_text(encoding="utf-8").rstrip().endswith("</svg>")
        written.unlink(missing_ok=True)


def test_each_model_has_a_record_and_each_record_a_model() -> None:
    assert sorted(p.stem for p in RECORDED.glob("*.json")) == NAMES


def _differing(computed: dict[str, Any], expected: dict[str, Any], precision: float) -> dict[str, Any]:
    """The gradients that differ, computed and expected; sizes below the precision of the largest are noise."""
    assert computed.keys() == expected.keys()
    largest = max((abs(x) for row in expected.values() if row is not None for x in row), default=0)
    return {
        name: (computed[name], row)
        for name, row in expected.items()
        if not _agree(computed[name], row, precision, largest)
    }


def _agree(computed: list[float] | None, expected: list[float] | None, precision: float, largest: float) -> bool:
    if computed is None or expected is None:
        return computed is expected
    return np.allclose(computed, expected, rtol=precision, atol=precision * max(largest, 1e-6))
