"""``gradtool backward --checkpoints`` and ``--memory-budget``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from jsonschema import validate

import gradtool.cli
from gradtool.cli.sizes import byte_size
from gradtool.engine.core.wording import size
from tests.cli.conftest import Run, Write

MODEL = """\
import paddle
import numpy as np

paddle.enable_static()


def build(layers=12):
    h = paddle.static.data("x", [None, 32])
    for i in range(layers):
        h = paddle.static.nn.fc(h, 32, name=f"l{i}", activation="relu")
    aside = paddle.static.nn.fc(h, 3, name="aside")
    return paddle.mean(h), {"x": np.ones((64, 32), "float32")}
"""
SCHEMA = json.loads((Path(gradtool.cli.__file__).parent / "schemas" / "backward.json").read_text(encoding="utf-8"))
UNIT = 64 * 32 * 4


def recomputed(gradtool: Run, *options: str) -> dict[str, Any]:
    """What the JSON result says about recomputation."""
    done = gradtool("backward", "model.py", "--format", "json", *options)
    assert done.code == 0, done.err
    data = json.loads(done.out)
    validate(data, SCHEMA)
    section: dict[str, Any] = data["recomputed"]
    return section


def test_the_line_under_the_headline(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(MODEL), "--checkpoints", "l3.tmp_2,l7.tmp_2")
    assert done.code == 0
    assert done.out.splitlines()[1] == (
        "checkpoints  l3.tmp_2, l7.tmp_2 · 22 forward ops run again · about 68 KiB of values and gradients at the peak "
        "instead of 116 KiB"
    )
    assert "--checkpoints l3.tmp_2,l7.tmp_2 --run" in done.out
    assert "--checkpoints l3.tmp_2 matched l3.tmp_2" in done.err


def test_gradients_are_the_same(gradtool: Run, model: Write) -> None:
    model(MODEL)

    def norms(*options: str) -> list[float]:
        done = gradtool("backward", "model.py", "--run", "--format", "json", *options)
        return [p["values"] and p["values"]["norm"] for p in json.loads(done.out)["parameters"]]

    plain = norms()
    assert sum(n is not None for n in plain) == 24
    assert norms("--checkpoints", "op:relu") == plain == norms("--checkpoints", "auto")


def test_automatic(gradtool: Run, model: Write) -> None:
    model(MODEL)
    costs = recomputed(gradtool, "--checkpoints", "auto")
    assert costs["checkpoints"]
    assert costs["operators"] > 20
    assert costs["peak_bytes"] < 8 * UNIT
    assert costs["peak_bytes_without"] > 12 * UNIT
    assert costs["budget_bytes"] is None
    assert recomputed(gradtool) is None


def test_shapes_come_from_the_feed_file(gradtool: Run, model: Write, folder: Path) -> None:
    model(MODEL)
    np.savez(folder / "small.npz", x=np.ones((8, 32), "float32"))
    costs = recomputed(gradtool, "--checkpoints", "auto", "--feed", "small.npz")
    assert costs["peak_bytes_without"] < 12 * UNIT


def test_a_budget(gradtool: Run, model: Write) -> None:
    model(MODEL)
    costs = recomputed(gradtool, "--memory-budget", "80K")
    assert costs["budget_bytes"] == 80 * 1024
    assert costs["peak_bytes"] <= 80 * 1024 < costs["peak_bytes_without"]
    least = recomputed(gradtool, "--checkpoints", "auto")
    assert costs["operators"] < least["operators"]
    assert recomputed(gradtool, "--checkpoints", "auto", "--memory-budget", "1G")["checkpoints"] == []
    assert "no checkpoints" in gradtool("backward", "model.py", "--memory-budget", "1G").out


def test_a_budget_that_is_too_small(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(MODEL), "--memory-budget", "1K")
    assert (done.code, done.out) == (4, "")
    assert "the budget is 1024" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--checkpoints", "l3.tmp_9"], "unknown tensor for --checkpoints: 'l3.tmp_9'"),
        (["--checkpoints", "auto", "--checkpoints", "l3.tmp_2"], "goes with no other"),
        (["--checkpoints", "l3.tmp_2", "--memory-budget", "1M"], "--memory-budget needs --checkpoints auto"),
        (["--memory-budget", "much"], "no number of bytes"),
        (["--memory-budget", "-3"], "no number of bytes"),
    ],
)
def test_mistakes(gradtool: Run, model: Write, options: list[str], message: str) -> None:
    done = gradtool("backward", model(MODEL), *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_tensor_that_the_loss_does_not_depend_on_is_named(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(MODEL), "--checkpoints", "aside.tmp_1,l3.tmp_2")
    assert "the loss does not depend on aside.tmp_1: skipped" in done.err
    assert "checkpoints  l3.tmp_2 ·" in done.out


@pytest.mark.parametrize("option", ["--checkpoints=auto", "--memory-budget=1M"])
def test_dynamic_models_have_no_checkpoints(gradtool: Run, model: Write, option: str) -> None:
    done = gradtool(
        "backward", model("import paddle\nx = paddle.ones([1])\nx.stop_gradient = False\ny = x * x\n"), option
    )
    assert done.code == 2
    assert "works on static programs" in done.err


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [("4096", 4096), ("1K", 1024), ("1.5k", 1536), ("2MiB", 2 << 20), ("3 GB", 3 << 30), ("0", 0)],
)
def test_sizes_read(text: str, nbytes: int) -> None:
    command = click.Command("c", params=[click.Option(["--memory"], callback=byte_size)])
    assert command.make_context("c", ["--memory", text]).params == {"memory": nbytes}


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (5 << 30, "5 GiB"), (3 << 41, "6 TiB")],
)
def test_sizes_written(nbytes: int, text: str) -> None:
    assert size(nbytes) == text
