"""What layers and functions append, with the names of everything, is what Paddle 3.1.1 was seen to append."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle

RECORDED = json.loads(Path(__file__).with_name("layer_programs.json").read_text(encoding="utf-8"))
"""By expression: the operators of the program with its gradients and of the startup program, and the names."""


pytestmark = pytest.mark.usefixtures("fresh_names")


def data(name: str, shape: list[int], dtype: str = "float32") -> Any:
    variable = paddle.static.data(name, shape, dtype)
    variable.stop_gradient = False
    return variable


def types(program: Any) -> str:
    return " ".join(o.type for o in program.global_block().ops)


MEDIANS = [expression for expression in RECORDED if "median(" in expression]
"""Paddle composes these of ``topk``, which loses infinities next to NaN; here they are the operator of dynamic mode."""


@pytest.mark.parametrize("expression", MEDIANS)
def test_a_median_is_one_operator_with_the_results_of_paddle(expression: str) -> None:
    out = eval(expression, {"paddle": paddle, "data": data})
    paddle.static.append_backward(paddle.mean(out) if out.ndim else out)
    made = types(paddle.static.default_main_program()).split()
    assert made.count("median") == made.count("median_grad") == 1
    assert [list(out.shape)] == RECORDED[expression]["shapes"]


@pytest.mark.parametrize("expression", [expression for expression in RECORDED if expression not in MEDIANS])
def test_the_program_is_that_of_paddle(expression: str) -> None:
    record = RECORDED[expression]
    names = {"paddle": paddle, "nn": paddle.nn, "F": paddle.nn.functional, "static": paddle.static, "data": data}
    out = eval(expression, names | {"I": paddle.nn.initializer})
    results = list(out) if isinstance(out, (list, tuple)) else [out]
    paddle.static.append_backward(paddle.mean(results[0]) if results[0].ndim else results[0])
    main = paddle.static.default_main_program()
    assert types(main) == record["operators"]
    assert types(paddle.static.default_startup_program()) == record["startup"]
    assert [v.name for v in results] == record["results"]
    assert [list(v.shape) for v in results] == record["shapes"]
    assert [[p.name, list(p.shape)] for p in main.all_parameters()] == record["parameters"]
    written = {n for o in main.global_block().ops for slot in o.output_names for n in o.output(slot)}
    assert " ".join(sorted(written)) == record["variables"]
