"""How a session of ``gradtool debug`` comes to be: what is recorded, under which names, where it begins and stops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradtool.engine.core.command_errors import CommandError, ModelError
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.files import overlay
from tests.viz.debugger.conftest import Open, said

DYNAMIC = """\
import paddle
import paddle.nn as nn

paddle.seed(0)

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 3)
        self.fc2 = nn.Linear(3, 1)
        self.unused = nn.Linear(3, 1)

    def forward(self, x):
        h = paddle.nn.functional.relu(self.fc1(x))
        return self.fc2(paddle.tanh(h) + h)

model = Net()
x = paddle.ones([2, 4])
loss = model(x).mean()
"""

STATIC = """\
import numpy as np
import paddle
paddle.enable_static()
x = paddle.static.data("x", [-1, 4])
model = paddle.nn.Linear(4, 3)
frozen = paddle.nn.Linear(3, 3)
h = paddle.nn.functional.relu(model(x))
loss = paddle.mean(paddle.sqrt(h - h))
feed = {"x": np.ones([2, 4], "float32")}
"""

TRAINING = """\
import paddle
import paddle.nn as nn

def main():
    paddle.seed(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    for i in range(5):
        y = model(paddle.full([16, 4], 0.5 + i))
        loss = ((y if i != 2 else paddle.sqrt(y - y)) ** 2.0).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()

main()
"""


def value(book: object, name: str) -> np.ndarray:  # type: ignore[type-arg]
    return np.asarray(book.execute(f'v["{name}"]')[1].value)  # type: ignore[attr-defined]


def test_a_file_without_backward_is_differentiated(opened: Open) -> None:
    book = opened(DYNAMIC)
    timeline = book.session.timeline
    assert timeline.mode == "eager"
    assert book.session.current is timeline.entries[timeline.begin]
    assert list(timeline.results) == [
        f"model.{layer}.{p}" for layer in ("fc1", "fc2", "unused") for p in ("weight", "bias")
    ]
    assert [n for n, gradient in timeline.results.items() if gradient is None] == [
        "model.unused.weight",
        "model.unused.bias",
    ]


@pytest.mark.parametrize("name", ["model.fc1.weight", "fc1.weight", "linear_0.w_0"])
@pytest.mark.parametrize("suffix", ["", "@GRAD"])
def test_a_parameter_answers_to_all_its_names(opened: Open, name: str, suffix: str) -> None:
    book = opened(DYNAMIC)
    assert said(book, f"p {name}{suffix}").startswith(f"{name}{suffix} 4×3")


def test_how_parameters_were_made_is_no_part_of_the_run(opened: Open) -> None:
    types = [e.type for e in opened(DYNAMIC).session.timeline.entries]
    assert types[0] == "matmul_v2"
    assert "uniform_random" not in types


def test_the_gradients_are_those_of_the_model(opened: Open, tmp_path: Path) -> None:
    keep = """\
loss.backward()
import numpy as np
np.savez(__file__ + ".npz", **{f"model.{n}": p.grad.numpy() for n, p in model.named_parameters() if p.grad is not None})
"""
    book = opened(DYNAMIC + keep)
    gradients = book.session.results(book.session.branch)
    with overlay.active(), np.load(tmp_path / "model.py.npz") as expected:
        assert sorted(expected) == sorted(n for n, g in gradients.items() if g is not None)
        for name in expected:
            np.testing.assert_array_equal(gradients[name], expected[name])


def test_a_static_program_is_run_with_every_value(opened: Open) -> None:
    book = opened(STATIC, catch=("nan",))
    assert book.session.timeline.mode == "static"
    assert "catch inf at ▶" in said(book, "c")
    assert book.session.current is not None
    assert book.session.current.name == "sqrt_grad.0"
    assert said(book, "p model.weight@GRAD").startswith("model.weight@GRAD 4×3")
    assert said(book, "p linear_0.w_0").startswith("linear_0.w_0 4×3")
    results = book.session.timeline.results
    assert results["frozen.weight"] is None
    assert results["model.weight"] is not None


def test_what_the_file_made_itself_is_taken_out_of_a_program(opened: Open) -> None:
    text = STATIC + "paddle.optimizer.SGD(0.1).minimize(loss)\n"
    parts = {e.type for e in opened(text).session.timeline.entries}
    assert "sgd" not in parts
    assert "sqrt_grad" in parts


def test_params_and_no_grad(opened: Open) -> None:
    book = opened(DYNAMIC, params=("fc1.*",), no_grad=("fc2.weight",))
    assert list(book.session.timeline.results) == ["model.fc1.weight", "model.fc1.bias"]
    assert "fc2.weight@GRAD" not in " ".join(book.session.timeline.names)
    static = opened(STATIC, no_grad=("model.bias",))
    assert static.session.timeline.results["model.bias"] is None


def test_the_last_pass_of_a_training_file(opened: Open) -> None:
    book = opened(TRAINING)
    assert list(book.session.timeline.results) == ["model.0.weight", "model.0.bias", "model.2.weight", "model.2.bias"]
    assert not np.isfinite(value(book, "0.weight")).all()  # the third step went wrong, and all after it


def test_a_chosen_pass_of_a_training_file(opened: Open) -> None:
    first, second = (opened(TRAINING, step=n) for n in (1, 2))
    gradient = value(first, "0.weight@GRAD")
    moved = value(first, "0.weight") - value(second, "0.weight")
    np.testing.assert_allclose(moved, 0.1 * gradient, rtol=1e-5, atol=1e-7)


def test_the_first_pass_with_a_catch(opened: Open) -> None:
    book = opened(TRAINING, catch=("nan",))
    said(book, "c")
    assert book.session.current is not None
    assert book.session.current.name == "sqrt_grad.0"


def test_a_pass_that_the_file_does_not_run(opened: Open) -> None:
    with pytest.raises(CommandError, match=r"--step 9: model.py runs 5 backward passes"):
        opened(TRAINING, step=9)
    with pytest.raises(CommandError, match=r"--step 2: model.py runs no backward pass itself"):
        opened(DYNAMIC, step=2)
    with pytest.raises(CommandError, match=r"--step works in dynamic mode"):
        opened(STATIC, step=1)


def test_stops_in_the_forward_part(opened: Open) -> None:
    book = opened(STATIC, break_=("op:relu",))
    assert book.opening.startswith(
        "2 of 4 gradients · 2 NaN ✗ (catch nan and rc go back to where that began) · 2 None "
        "(why frozen.weight says why)\n■ break 1 at ▶ 3/"
    )
    watched = opened(DYNAMIC, watch=("fc1.weight@GRAD",))
    assert [s.kind for s in watched.session.stops] == ["watch"]


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("catch", "nonsense", "--catch: cannot catch 'nonsense'"),
        ("break_", "op:rellu", "--break: there is no operator 'rellu'"),
        ("watch", "1 +", "--watch: '1 \\+' is no Python expression"),
    ],
)
def test_stops_that_cannot_be(opened: Open, option: str, text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        opened(STATIC, **{option: (text,)})


def test_a_budget_of_bytes(opened: Open) -> None:
    whole, tight = opened(DYNAMIC), opened(DYNAMIC, history=200)
    assert tight.session.timeline.store.dropped > 0
    for book in (whole, tight):
        said(book, "finish")
    for name, gradient in whole.session.results(whole.session.branch).items():
        other = tight.session.results(tight.session.branch)[name]
        assert (gradient is None and other is None) or np.array_equal(gradient, other)


def test_what_the_model_raises_passes(opened: Open) -> None:
    with pytest.raises(ModelError, match="ZeroDivisionError"):
        opened("import paddle\n1 / 0\n")
    with pytest.raises(GradtoolError, match="cannot be multiplied"):
        opened("import paddle\nloss = (paddle.ones([2, 3]) @ paddle.ones([2, 3])).sum()\n")


@pytest.mark.parametrize(
    "name", ["detached_expert", "eager_spirals", "eager_gradient_penalty", "word_embedding", "hessian_vector"]
)
def test_models_of_the_samples(opened: Open, name: str) -> None:
    book = opened("", model=str(Path(__file__).parents[3] / "samples" / f"{name}.py"))
    timeline = book.session.timeline
    assert said(book, "finish").startswith("■ end of the run")
    first = book.session.results(book.session.branch)
    for number in [n for n, _ in timeline.store.items() if timeline.values[n].maker >= 0]:
        timeline.store.drop(number)
    again = book.session.results(book.session.branch)
    assert any(g is not None for g in first.values())
    for key, gradient in first.items():
        if gradient is not None:
            np.testing.assert_array_equal(np.asarray(again[key]), np.asarray(gradient))
