"""The samples of dynamic mode learn what their static counterparts learn, along the same curves."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests import processes

SAMPLES = Path(__file__).parents[2] / "samples"

Load = Callable[[str], ModuleType]


def static_start(network: Callable[[], Any]) -> list[Any]:
    """The values that the parameters of the static *network* have after its startup program, in the order of making."""
    paddle.seed(1)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        network()
    paddle.static.Executor().run(startup)
    scope = paddle.static.global_scope()
    return [np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()]


def load(net: Any, values: list[Any]) -> Any:
    """Give the parameters of *net* these values."""
    for p, value in zip(net.parameters(), values, strict=True):
        p.set_value(value)
    return net


def test_digits_are_learned_along_the_curve_of_static_mode(sample: Load) -> None:
    static = sample("lenet_digits")
    values = static_start(static.network)
    expected, read = static.train(epochs=3)

    eager = sample("eager_digits")
    history, accuracy = eager.train(load(eager.LeNet(), values), epochs=3)
    np.testing.assert_allclose(history, expected, rtol=1e-4)
    assert history[-1] < 0.5 * history[0]
    assert accuracy == pytest.approx(read, abs=0.01)  # rounding may decide a close case


def test_the_first_gradients_are_those_of_static_mode(sample: Load) -> None:
    static = sample("lenet_digits")
    loss, feed = static.build()
    pairs = paddle.static.append_backward(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    value, *expected = exe.run(feed=feed, fetch_list=[loss, *(g for _, g in pairs)])
    scope = paddle.static.global_scope()
    values = [np.array(scope.find_var(p.name).get_tensor()) for p, _ in pairs]

    eager = sample("eager_digits")
    net = load(eager.LeNet(), values)
    now = paddle.nn.functional.cross_entropy(net(paddle.to_tensor(feed["image"])), paddle.to_tensor(feed["label"]))
    now.backward()
    np.testing.assert_array_equal(now.numpy(), value)
    for p, gradient in zip(net.parameters(), expected, strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), gradient)


def test_a_fresh_net_reads_digits() -> None:
    done = processes.run([sys.executable, str(SAMPLES / "eager_digits.py")], check=True)
    assert done.stderr == ""
    *epochs, last = done.stdout.splitlines()
    losses = [float(line.split()[-1]) for line in epochs]
    assert losses[-1] < 0.2 * losses[0]
    assert last.startswith("accuracy on 297 digits")
    assert float(last.split()[-1].rstrip("%")) > 80


def test_the_critic_stays_gentle_as_in_static_mode(sample: Load) -> None:
    static = sample("gradient_penalty")
    values = static_start(static.network)
    expected = static.train(steps=60)

    eager = sample("eager_gradient_penalty")
    history = eager.train(load(eager.critic(), values), steps=60)
    np.testing.assert_allclose(history, expected, rtol=1e-3, atol=1e-5)
    losses, penalties = zip(*history, strict=True)
    assert np.mean(losses[-20:]) < losses[0] - 2.0
    assert np.mean(penalties[-20:]) < 0.5 * penalties[0]


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("eager_gradient_penalty", "step 199"),
        ("eager_spirals", "accuracy"),
    ],
)
def test_the_samples_run_as_scripts(name: str, last: str) -> None:
    done = processes.run([sys.executable, str(SAMPLES / f"{name}.py")], check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith(last)


def test_the_verses_become_less_surprising_and_go_on() -> None:
    done = processes.run([sys.executable, str(SAMPLES / "eager_verses.py")], check=True)
    lines = done.stdout.splitlines()
    losses = [float(line.split()[-1]) for line in lines if line.startswith("step")]
    assert losses[-1] < 0.55 * losses[0]
    assert lines[len(losses)].startswith("The Walrus ")


def test_skip_gram_learns_from_rows(sample: Load) -> None:
    paddle.disable_static()
    model = sample("eager_skip_gram")
    loss, network = model.build()
    loss.backward()
    touched = network.words.weight.grad
    assert touched.is_selected_rows()
    assert len(touched.rows) == 64
    vocabulary, network, history = model.train(400)
    assert np.mean(history[-50:]) < 0.6 * history[0]
    assert set(model.nearest(vocabulary, network, "walrus")) < set(vocabulary) - {"walrus"}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("eager_digits", 8),
        ("eager_gradient_penalty", 3),
        ("eager_skip_gram", 2),
        ("eager_spirals", 6),
        ("eager_verses", 7),
    ],
)
def test_the_command_line_shows_a_gradient_for_every_parameter(name: str, parameters: int) -> None:
    start = "import sys; from gradtool.cli.main import main; sys.exit(main())"
    command = ["backward", str(SAMPLES / f"{name}.py"), "--format", "json"]
    done = processes.run([sys.executable, "-c", start, *command], check=True)
    rows = [r for r in json.loads(done.stdout)["parameters"] if r["is_parameter"]]
    assert [r["status"] for r in rows] == ["ok"] * parameters
    assert all(r["values"]["norm"] > 0 for r in rows)
