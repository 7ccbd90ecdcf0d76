"""Programs that Paddle wrote as descriptions: read, run and differentiated they give what Paddle computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.strip import strip_backward
from tests.paddle_files import archives

VERSIONS = ("classic_3.1.1", "classic_2.6.2", "classic_1.8.5", "zoo_classic_3.1.1")
CASES = [(version, name) for version in VERSIONS for name in archives.names(version)]


def feed_of(values: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("feed/"): value for key, value in values.items() if key.startswith("feed/")}


def gradients_of(values: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("grad/"): value for key, value in values.items() if key.startswith("grad/")}


def expect_near(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-5 * (1 + np.abs(wanted).max(initial=0)))


@pytest.fixture
def executor() -> Any:
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()):
        yield paddle.static.Executor()
    paddle.disable_static()


@pytest.mark.parametrize(("version", "name"), CASES)
def test_program_of_paddle_gives_what_paddle_computed(version: str, name: str, tmp_path: Path, executor: Any) -> None:
    folder, values = archives.unpacked(version, name, tmp_path), archives.values(version, name)
    gradients, feed = gradients_of(values), feed_of(values)

    inference, fed, fetched = paddle.static.load_inference_model(str(folder / "infer"), executor)
    (inferred,) = executor.run(inference, feed={key: feed[key] for key in fed}, fetch_list=fetched)
    expect_near(inferred, values["inferred"])
    loss = fetched[0].name
    if loss.startswith("save_infer_model"):  # Paddle 2 fetches a copy
        (loss,) = fetched[0].op.input("X")

    program = Program.parse_from_string((folder / "train.pdmodel").read_bytes())
    assert all(op.origin is not None for op in program.global_block().ops if op.type.endswith("_grad"))

    def run(names: list[Any]) -> list[Any]:
        paddle.static.load(program, str(folder / "train"))
        return executor.run(program, feed=feed, fetch_list=names)  # type: ignore[no-any-return]

    names = {key: str(values[f"name/{key}"]) for key in gradients}
    first, *own = run([loss, *names.values()])
    expect_near(first, values["loss"])
    for got, wanted in zip(own, gradients.values(), strict=True):
        expect_near(got, wanted)
    if name in OTHERWISE or any(variable != f"{parameter}@GRAD" for parameter, variable in names.items()):
        return
    strip_backward(program, [program.global_block().var(loss)])
    with paddle.static.program_guard(program):
        appended = dict(paddle.static.append_backward(program.global_block().var(loss)))
    assert {p.name for p in appended} >= gradients.keys()
    for got, wanted in zip(run([f"{p}@GRAD" for p in gradients]), gradients.values(), strict=True):
        expect_near(got, wanted)


OTHERWISE = {
    "s047_nograd_branch": "a set of variables without gradients",
    "s060_gradients_basic": "gradients of several targets",
    "s070_second_order_cube": "a gradient of gradients",
    "s073_second_order_relu": "a gradient of gradients",
    "s177_while_overwrites_softmax": "Paddle reads the value that was overwritten",
    "s196_sgd_clip_global_norm": "gradients are clipped",
    "s198_param_attr_lr_reg_noclip": "gradients are clipped, and decay is added",
    "s200_assign_overwrite": "Paddle reads the value that was overwritten",
}
"""Programs whose gradients are others than those of ``append_backward(loss)``, and what they are."""
