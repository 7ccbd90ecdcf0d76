"""Commands that compute on JAX: which backend, which device, and what is said where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradtool.engine.core.errors import BackendError
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.jax import devices
from tests.cli.conftest import Run

MODEL = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2, 3])
loss = paddle.mean(paddle.tanh(paddle.static.nn.fc(x, 2)))
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "model.py").write_text(MODEL)
    return str(tmp_path / "model.py")


def test_a_command_computes_on_the_backend_that_it_is_given(gradtool: Run, model: str) -> None:
    before = choice.current().name
    done = gradtool("backward", model, "--run", "--backend", "jax", "--device", "cpu", "--precision", "high")
    assert done.code == 0, done.err
    assert "2 of 2 parameters get a gradient" in done.out
    assert choice.current().name == before
    assert choice.SETTING not in os.environ or os.environ[choice.SETTING] == before


def test_a_device_that_is_not_there_is_an_error_that_says_what_there_is(gradtool: Run, model: str) -> None:
    done = gradtool("nan", model, "--backend", "jax", "--device", "tpu")
    assert done.code != 0
    assert "device 'tpu': JAX sees" in done.err
    assert "cpu" in done.err
    with pytest.raises(BackendError, match="none of cpu, gpu, tpu"):
        devices.device("gpus")
    with pytest.raises(BackendError, match="JAX sees"):
        devices.device("cpu:99")


def test_a_backend_without_devices_refuses_them(gradtool: Run, model: str) -> None:
    done = gradtool("nan", model, "--backend", "numpy", "--device", "gpu")
    assert "backend 'numpy' computes on the CPU" in done.err
    assert "--backend jax --device gpu" in done.err
    done = gradtool("nan", model, "--precision", "high")
    assert "precision 'high'" in done.err


def test_values_on_both_backends_are_compared(gradtool: Run, model: str) -> None:
    done = gradtool("diff", model, "--values", "--backend", "numpy", "--against", "jax", "--device", "cpu")
    assert "on numpy" in done.out, done.err
    assert "on jax" in done.out


def test_doctor_says_what_is_not_compiled_where_and_why(gradtool: Run, tmp_path: Path) -> None:
    text = MODEL.replace("loss =", "kept = paddle.reshape(paddle.masked_select(x, x > -9), [-1, 3])\nloss =").replace(
        "fc(x", "fc(kept"
    )
    (tmp_path / "split.py").write_text(text)
    done = gradtool(str(tmp_path / "split.py"), "--backend", "jax")
    assert "masked_select.0 by numpy, split.py:5: the shape of its result depends on values" in done.out, done.err


def test_doctor_says_which_operators_in_a_block_are_not_compiled(gradtool: Run, tmp_path: Path) -> None:
    body = "    paddle.static.Print(h)\n    return [i + 1, paddle.tanh(h)]\n\n\n"
    rounds = "_, kept = paddle.static.nn.while_loop(lambda i, h: i < 2, step, [paddle.zeros([1], 'int64'), x])\n"
    text = MODEL.replace("loss =", f"\n\ndef step(i, h):\n{body}{rounds}loss =").replace("fc(x", "fc(kept")
    (tmp_path / "rounds.py").write_text(text)
    done = gradtool(str(tmp_path / "rounds.py"), "--backend", "jax")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    told = " ".join(lines)
    assert (
        "while.0 by numpy, rounds.py:12: in its block print is not compiled: it does something beside computing" in told
    )
    assert "print.0 in while.0 by numpy, rounds.py:8: it does something beside computing" in told, done.out


def test_dynamic_mode_says_where_it_is_computed(gradtool: Run, tmp_path: Path) -> None:
    (tmp_path / "eager.py").write_text(
        "import paddle\nnet = paddle.nn.Linear(3, 2)\nloss = paddle.tanh(net(paddle.rand([2, 3]))).mean()\n"
    )
    done = gradtool("nan", str(tmp_path / "eager.py"), "--backend", "jax")
    assert "dynamic mode is recorded on numpy" in done.err
    done = gradtool("diff", str(tmp_path / "eager.py"), "--values", "--backend", "numpy", "--against", "jax")
    assert "on jax" in done.out


def test_why_says_what_is_not_computed_by_the_backend(gradtool: Run, model: str) -> None:
    said = "operators run one by one on jax, and gradients are taken from the rules on numpy"
    assert [said in gradtool("why", model, "--backend", name).err for name in ("jax", "numpy")] == [True, False]


def test_threads_are_limited_while_a_command_runs(gradtool: Run, tmp_path: Path) -> None:
    text = "import threadpoolctl\nprint([lib['num_threads'] for lib in threadpoolctl.threadpool_info()][:1])\n"
    (tmp_path / "model.py").write_text(text + MODEL)
    assert "[1]" in gradtool("backward", str(tmp_path / "model.py"), "--threads", "1").err
    done = gradtool("backward", str(tmp_path / "model.py"), "--threads", "0")
    assert "Invalid value for '--threads'" in done.err
