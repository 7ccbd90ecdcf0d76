"""``stats --steps``: gradients over the steps of a training script."""

from __future__ import annotations

import gc
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import gradtool
from gradtool.engine.questions.over_time import Training
from tests.cli.conftest import Run, Write
from tests.sampling import sampled

HERE = Path(__file__).parents[2]
SCHEMA = Draft202012Validator(json.loads((HERE.parent / "cli/schemas/over-time.json").read_text(encoding="utf-8")))
CORRECT = sorted((HERE / "scripts/correct").glob("*.py"))

SCRIPT = """\
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(7)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    {setup}
    for step in range({steps}):
        x = paddle.randn([8, 3])
        loss = F.mse_loss(net(x), x[:, :1])
{body}


if __name__ == "__main__":
    main()
"""
SGD = "opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())"
USUAL = "loss.backward()\nopt.step()\nopt.clear_grad()"


def script(body: str = USUAL, setup: str = SGD, steps: int = 6) -> str:
    lines = "\n".join(8 * " " + line for line in body.splitlines())
    return SCRIPT.format(setup=setup, steps=steps, body=lines)


@pytest.fixture
def trained(gradtool: Run, model: Write) -> Any:
    """What ``stats --steps`` says of a script, in JSON."""

    def ask(text: str, *options: str) -> dict[str, Any]:
        model(text)
        done = gradtool("stats", "model.py", "--steps", "50", "-q", "--format", "json", *options)
        assert done.code == 0, done.err
        data: dict[str, Any] = json.loads(done.out)
        SCHEMA.validate(data)
        return data

    return ask


def kinds(data: dict[str, Any]) -> list[tuple[str, int]]:
    return [(h["kind"], h["step"]) for h in data["happenings"]]


def test_every_step_has_its_pass_its_update_and_its_numbers(trained: Any) -> None:
    data = trained(script())
    assert data["step"] == "update"
    assert [s["number"] for s in data["steps"]] == [1, 2, 3, 4, 5, 6]
    assert [s["backward"][0]["number"] for s in data["steps"]] == [1, 2, 3, 4, 5, 6]
    assert {s["updates"][0]["by"] for s in data["steps"]} == {"SGD"}
    assert [r["name"] for r in data["rows"]] == ["net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"]
    for row in data["rows"]:
        for point in row["points"]:
            assert point["update"] == pytest.approx(0.1 * point["norm"], rel=1e-3)
    assert data["findings"] == 0
    assert kinds(data) == []


@pytest.mark.parametrize(
    "update",
    [
        "with paddle.no_grad():\n  for p in net.parameters():\n    p.subtract_(0.1 * p.grad)\n    p.clear_grad()",
        "for p in net.parameters():\n    p.set_value(p - 0.1 * p.grad)\n    p.grad = None",
        "with paddle.no_grad():\n  for p in net.parameters(): paddle.assign(p - p.grad / 10, p)\nnet.clear_gradients()",
    ],
)
def test_updates_by_hand_are_updates(trained: Any, update: str) -> None:
    usual, data = trained(script()), trained(script("loss.backward()\n" + update, ""))
    assert [s["updates"][0]["by"] for s in data["steps"]] == [None] * 6
    for row, other in zip(usual["rows"], data["rows"], strict=True):
        for point, expected in zip(other["points"], row["points"], strict=True):
            assert point["norm"] == pytest.approx(expected["norm"], rel=1e-4)
            assert point["update"] == pytest.approx(expected["update"], rel=1e-2)
    assert data["findings"] == 0


REBOUND = """\
import paddle
def main():
    paddle.seed(7)
    W = paddle.randn([3, 1])
    W.stop_gradient = False
    for step in range(5):
        x = paddle.randn([8, 3])
        loss = ((x @ W - 1) ** 2).mean()
        loss.backward()
        {update}
main()
"""


@pytest.mark.parametrize(
    "update",
    [
        "W = (W - 0.1 * W.grad).detach(); W.stop_gradient = False",
        "W = paddle.to_tensor(W.numpy() - 0.1 * W.grad.numpy(), stop_gradient=False)",
    ],
)
def test_a_name_that_is_bound_anew_goes_on_as_the_same_weight(trained: Any, update: str) -> None:
    data = trained(REBOUND.format(update=update))
    assert [r["name"] for r in data["rows"]] == ["W"]
    points = data["rows"][0]["points"]
    assert len(points) == 5
    for point in points[:4]:
        assert point["update"] == pytest.approx(0.1 * point["norm"], rel=1e-3)


def test_accumulated_passes_are_one_step(trained: Any) -> None:
    body = "(loss / 3).backward()\nif step % 3 == 2:\n    opt.step()\n    opt.clear_grad()"
    data = trained(script(body))
    assert [[p["number"] for p in s["backward"]] for s in data["steps"]] == [[1, 2, 3], [4, 5, 6]]
    assert {p["passes"] for r in data["rows"] for p in r["points"]} == {3}
    assert kinds(data) == []


def test_without_an_update_a_step_is_a_pass(trained: Any) -> None:
    data = trained(script("loss.backward()\nnet.clear_gradients()", ""))
    assert data["step"] == "backward"
    assert len(data["steps"]) == 6
    assert data["rows"][0]["points"][0]["update"] is None


def test_clipping_says_what_it_multiplied_by(trained: Any) -> None:
    clip = (
        "opt = paddle.optimizer.SGD(0.1, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(0.01))"
    )
    data = trained(script(setup=clip))
    assert kinds(data) == [("clipped", 1)]
    assert data["findings"] == 0
    for i, step in enumerate(data["steps"]):
        norms = [row["points"][i]["norm"] for row in data["rows"]]
        assert step["updates"][0]["clipped"] == pytest.approx(0.01 / sum(n * n for n in norms) ** 0.5, rel=1e-3)
        assert data["rows"][0]["points"][i]["clipped"] == pytest.approx(step["updates"][0]["clipped"], rel=1e-3)


def test_gradients_that_were_changed_by_hand_are_told_as_they_are_used(trained: Any) -> None:
    body = (
        "(loss * 1024).backward()\nfor p in net.parameters():\n    p.grad = p.grad / 1024\nopt.step()\nopt.clear_grad()"
    )
    data = trained(script(body))
    assert kinds(data) == [("changed", 1)]
    assert data["happenings"][0]["numbers"] == pytest.approx([1 / 1024] * 2)
    usual = trained(script())
    assert data["rows"][0]["points"][3]["norm"] == pytest.approx(usual["rows"][0]["points"][3]["norm"], rel=1e-4)


HAPPENINGS = {
    "not finite": (script("if step == 3: loss = loss / 0.0\n" + USUAL), [("not finite", 4)]),
    "all zero": (script("if step > 1: loss = loss * 0.0\n" + USUAL), [("all zero", 3)]),
    "not cleared": (script("loss.backward()\nopt.step()\nif step < 2: opt.clear_grad()"), [("not cleared", 4)]),
    "frozen": (
        script("if step == 2:\n    for p in net[0].parameters(): p.stop_gradient = True\n" + USUAL, steps=8),
        # The tanh of the third step was recorded before.
        [("no gradient", 4)],
    ),
    "unfrozen": (
        script(
            "for p in net[0].parameters(): p.stop_gradient = step < 3\nloss = F.mse_loss(net(x), x[:, :1])\n" + USUAL
        ),
        [("first gradient", 4)],
    ),
    "not updated": (
        script(setup="opt = paddle.optimizer.SGD(0.1, parameters=net[2].parameters())"),
        [("not updated", 1)],
    ),
    "not updated late": (
        script(
            "if step == 3:\n    for p in net[0].parameters(): p.stop_gradient = False\n" + USUAL,
            "for p in net[0].parameters(): p.stop_gradient = True\n"
            "    opt = paddle.optimizer.SGD(0.1, parameters=[p for p in net.parameters() if not p.stop_gradient])",
            8,
        ),
        # The fourth loss was computed before.
        [("first gradient", 5), ("not updated", 5)],
    ),
    "cleared too early": (script("loss.backward()\nopt.clear_grad()\nopt.step()"), [("cleared too early", 1)]),
    "learning rate": (
        script("opt.set_lr(0.1 if step < 4 else 0.01)\n" + USUAL),
        [("learning rate", 5)],
    ),
    "overwritten": (
        script(USUAL + "\nif step == 1: net[0].weight.set_value(paddle.full([3, 4], 1e4))", steps=3),
        [("overwritten", 3)],
    ),
    "jump": (
        script(
            "if step == 4: loss = loss * 1e4\n" + USUAL,
            "opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())",
        ),
        [("jump", 5)],
    ),
}


@pytest.mark.parametrize("name", HAPPENINGS)
def test_what_begins_at_a_step_is_told_with_it(trained: Any, name: str) -> None:
    text, expected = HAPPENINGS[name]
    data = trained(text)
    found = [entry for entry in kinds(data) if entry[0] not in {"unmoved", "all zero"} or entry in expected]
    assert found == expected
    assert all(h["source"] is not None for h in data["happenings"])


@pytest.mark.parametrize("file", sampled(CORRECT, lambda f: f"over time {f.stem}", 6), ids=lambda f: f.stem)
@pytest.mark.filterwarnings("ignore:.*makes no effect")
def test_nothing_is_found_in_what_is_right(gradtool: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    done = gradtool("stats", file.name, "--steps", "50", "-q", "--format", "json", "--exit-code")
    assert done.code == 0, done.err
    SCHEMA.validate(json.loads(done.out))


PROGRAM = """\
import numpy as np
import paddle
paddle.enable_static()
paddle.seed(3)
x = paddle.static.data("x", [None, 4], "float32")
loss = paddle.mean(paddle.static.nn.fc(x, 1) ** 2)
clip = paddle.nn.ClipGradByGlobalNorm(0.01)
paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, 2), grad_clip=clip, weight_decay=0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for i in range(4):
    exe.run(feed={"x": np.full([2, 4], i + 1.0, "float32")}, fetch_list=[loss])
"""


def test_a_program_that_is_run_in_a_loop_has_steps(trained: Any) -> None:
    data = trained(PROGRAM)
    assert data["mode"] == "static"
    assert [len(s["backward"]) for s in data["steps"]] == [1, 1, 1, 1]
    assert data["steps"][0]["backward"][0]["source"]["line"] == 12
    assert data["steps"][0]["updates"][0] == {
        "by": "sgd",
        "clipped": pytest.approx(data["rows"][0]["points"][0]["clipped"]),
        "rate": pytest.approx(0.1),
        "source": {"file": "model.py", "line": 8},
    }
    assert kinds(data) == [("clipped", 1)]
    assert all(p["update"] > 0 for r in data["rows"] for p in r["points"])


def test_nobody_is_left_watching(gradtool: Run, model: Write) -> None:
    from gradtool.engine.core import watch
    from gradtool.engine.eager.tensor import writes

    before = writes.get()
    model(PROGRAM)
    assert gradtool("stats", "model.py", "--steps", "9", "-q").code == 0
    assert gradtool("report", "model.py", "--md", "r.md", "-q").code == 0
    assert (watch.watcher(), watch.noting, watch.is_watched(), writes.get()) == (None, 0, False, before)


def test_a_run_that_fails_ends_the_watch(gradtool: Run, model: Write) -> None:
    from gradtool.engine.core import watch

    model(PROGRAM + "exe.run(feed={'x': 'nothing'}, fetch_list=[loss])\n")
    done = gradtool("stats", "model.py", "--steps", "9", "-q")
    assert "4 steps" in done.out
    assert "until" in done.out
    assert watch.watcher() is None


def test_commands_that_follow_a_program_name_no_run(gradtool: Run, model: Write) -> None:
    model(PROGRAM.replace("** 2)", "* 0.0)"))
    done = gradtool("stats", "model.py", "--steps", "9", "-q")
    assert "all zero in every step" in done.out
    assert "next: gradtool why model.py --steps 9" in done.out


def test_a_script_that_raises_is_told_until_then(gradtool: Run, model: Write) -> None:
    model(script(USUAL + "\nif step == 2: raise ValueError('enough')"))
    done = gradtool("stats", "model.py", "--steps", "50")
    assert done.code == 3
    assert "3 steps" in done.out
    assert "until      model.py raised ValueError: enough" in done.out


def test_a_script_that_is_stopped_says_so(gradtool: Run, model: Write) -> None:
    model(script())
    done = gradtool("stats", "model.py", "--steps", "2", "-q")
    assert "2 steps" in done.out
    assert "until      stopped at model.py:13; --steps all lets it run to its end" in done.out


def test_many_parameters_are_folded_into_layers(trained: Any) -> None:
    deep = "net = nn.LayerList([nn.Sequential(*[nn.Linear(3, 3) for _ in range(4)]) for _ in range(6)])\n    " + SGD
    body = "h = x\nfor block in net: h = block(h)\nloss = F.mse_loss(h, x)\n" + USUAL
    text = script(body, deep, 2).replace("net(x)", "x")
    rows = [r["name"] for r in trained(text)["rows"]]
    # The net that the name had before is told, too.
    assert rows == [*(f"net.{i}.{j}" for i in range(6) for j in range(4)), "main.net.0", "main.net.2"]
    assert len(trained(text, "--by", "parameter")["rows"]) == 52
    layer = trained(text)["rows"][0]
    parts = trained(text, "--by", "parameter")["rows"][:2]
    assert layer["members"] == [p["name"] for p in parts]
    assert layer["points"][0]["norm"] == pytest.approx(sum(p["points"][0]["norm"] ** 2 for p in parts) ** 0.5)


@pytest.mark.parametrize(
    ("name", "findings"), [("not updated", 0), ("not updated late", 1), ("cleared too early", 1), ("frozen", 0)]
)
def test_what_may_be_meant_is_no_finding(trained: Any, name: str, findings: int) -> None:
    assert trained(HAPPENINGS[name][0])["findings"] == findings


def test_what_is_not_finite_spreads_and_is_one_finding(trained: Any) -> None:
    body = "if step == 2: loss = loss + net[2].bias.sum() / 0.0\n" + USUAL
    data = trained(script(body))
    assert kinds(data) == [("not finite", 3), ("not finite", 4)]
    assert data["happenings"][0]["parameters"] == ["net.2.bias"]
    assert data["findings"] == 1


def test_a_layer_that_no_optimizer_can_know_is_a_finding(trained: Any) -> None:
    late = script("loss = F.mse_loss(late(net(x)), x[:, :1])\n" + USUAL, SGD + "\n    late = nn.Linear(1, 1)")
    data = trained(late)
    assert kinds(data) == [("not updated", 1)]
    assert data["happenings"][0]["parameters"] == ["late.weight", "late.bias"]
    assert data["findings"] == 1


def test_a_tensor_that_an_optimizer_holds_is_a_weight(trained: Any) -> None:
    setup = "scale = paddle.ones([1]); scale.stop_gradient = False\n    "
    text = script(
        "loss = F.mse_loss(net(x) * scale, x[:, :1])\n" + USUAL,
        setup + SGD.replace("net.parameters()", "[*net.parameters(), scale]"),
    )
    data = trained(text)
    assert "scale" in [r["name"] for r in data["rows"]]
    assert kinds(data) == []
    assert all(p["passes"] == 1 for r in data["rows"] for p in r["points"])


def test_data_that_takes_gradients_is_no_row(trained: Any) -> None:
    body = "x.stop_gradient = False\nloss = F.mse_loss(net(x), x[:, :1])\n" + USUAL
    data = trained(script(body))
    assert [r["name"] for r in data["rows"]] == ["net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"]
    assert len(data["steps"]) == 6


def test_a_pass_after_the_last_update_is_told_and_is_no_finding(trained: Any) -> None:
    data = trained(script("loss.backward()\nif step < 5:\n    opt.step()\n    if step < 4: opt.clear_grad()"))
    assert [len(s["updates"]) for s in data["steps"]] == [1, 1, 1, 1, 1, 0]
    assert data["findings"] == 0


def test_a_parameter_without_a_gradient_is_no_all_clear(gradtool: Run, model: Write) -> None:
    model(script("loss = F.mse_loss(net[2](net[0](x).detach()), x[:, :1])\n" + USUAL))
    done = gradtool("stats", "model.py", "--steps", "50", "-q")
    assert "no gradient in any step: net.0.* · why says whether that is meant" in done.out
    assert "next: gradtool why model.py" in done.out


def test_what_does_not_go_together_is_refused(gradtool: Run, model: Write) -> None:
    model(script())
    for options, said in (
        (["--by", "op"], "over time a row is a parameter or a layer"),
        (["--worst", "3"], "--worst is about one backward pass"),
        (["--histogram"], "--histogram is about one backward pass"),
    ):
        done = gradtool("stats", "model.py", "--steps", "3", *options)
        assert (done.code, said in done.err) == (2, True), done.err
    model("import paddle\nw = paddle.ones([2]); w.stop_gradient = False\nloss = (w * w).sum()\n")
    done = gradtool("stats", "model.py", "--steps", "3")
    assert (done.code, "runs no backward pass itself" in done.err) == (2, True)


WATCHED = """\
import hashlib
import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(5)
net = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.ReLU(), nn.Embedding(4, 8, sparse=True))
body, table = net[:3], net[3]
clip = nn.ClipGradByNorm(0.5)
opt = paddle.optimizer.AdamW(1e-2, parameters=net.parameters(), grad_clip=clip, weight_decay=0.01)
digest = hashlib.sha256()
for step in range(5):
    x = paddle.randn([4, 6])
    loss = F.mse_loss(body(x), table(paddle.randint(0, 4, [4])))
    loss.backward()
    opt.step()
    for p in net.parameters():
        digest.update(p.numpy().tobytes() + p.grad.numpy().tobytes())
    opt.clear_grad()
digest.update(paddle.randn([3]).numpy().tobytes())
digest = digest.hexdigest()
"""


def test_a_run_that_is_listened_to_is_the_same_run(model: Write) -> None:
    """Bit for bit: weights, gradients, the stream of random numbers."""
    from gradtool.engine.loading import loader
    from gradtool.engine.questions.over_time import Listening
    from gradtool.engine.request.request import Request

    name = model(WATCHED)
    with loader.run_model(Request(name)) as plain:
        expected = plain.namespace["digest"]
    with Listening() as listening, loader.run_model(Request(name)) as heard:
        assert heard.namespace["digest"] == expected
        assert len(listening.history(heard).steps) == 5
    assert len(expected) == len(hashlib.sha256().hexdigest())


def test_no_gradient_is_kept(model: Write) -> None:
    """Leaves that the script lets go of are gone, and their gradients with them."""
    from gradtool.engine.eager.tensor import Leaf

    model(REBOUND.format(update="W = (W - 0.1 * W.grad).detach(); W.stop_gradient = False"))
    before = sum(issubclass(type(o), Leaf) for o in gc.get_objects())
    answer: Training = gradtool.load("model.py").over_time(steps=5)
    gc.collect()
    assert len(answer.history.steps) == 5
    assert sum(issubclass(type(o), Leaf) for o in gc.get_objects()) <= before + 4


def test_python_asks_the_same(model: Write, folder: Path) -> None:
    model(script())
    answer = gradtool.load("model.py").over_time(steps=3, by="layer")
    assert [row.name for row in answer.rows] == ["net.0", "net.2"]
    assert answer.data["steps"][-1]["number"] == 3
    assert str(answer).startswith("over time  model.py · eager · 3 steps")


def test_calls_of_grad_that_no_step_is_made_of_are_told(gradtool: Run, model: Write) -> None:
    text = "import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\n"
    file = model(text + "for _ in range(3):\n    g = paddle.grad((x * x).sum(), x)\n")
    done = gradtool("stats", file, "--steps", "5")
    assert done.code == 2
    assert "paddle.grad, called 3 times, the last time at model.py:5, gives none that it can follow" in done.err
    assert "runs no backward pass" not in done.err
