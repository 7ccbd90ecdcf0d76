"""What pictures mark: parameters and operators without a gradient, cut edges and why, in both modes and in loops."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gradtool.engine.questions.picture import Drawn
from gradtool.engine.request.request import Request
from gradtool.engine.view.graph import BIRTH, FORWARD, IDLE, LOST, OP, GraphView
from gradtool.viz.mirror.layout import mirror
from gradtool.viz.render.dot import render

NET = """
import paddle
from paddle import nn

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.enc, self.det, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
        self.never, self.fc = nn.Linear(4, 2), nn.Linear(4, 1)

    def forward(self, x):
        h = paddle.tanh(self.enc(x))
        k = self.det(h).detach()
        aux = self.head(h).sum()
        mask = paddle.triu(paddle.ones([4, 4]))
        return self.fc(h @ mask + k)
"""
LOOP = f"""{NET}
def main():
    net = Net()
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for step in range(3):
        x, y = paddle.randn([8, 4]), paddle.randn([8, 1])
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        accuracy = (net(x).argmax(-1) == 0).astype("float32").mean()

if __name__ == "__main__":
    main()
"""
MODEL = f"""{NET}
def build():
    net = Net()
    x = paddle.static.data("x", [8, 4])
    return net(x).mean()
"""


def view_of(folder: Path, source: str, *, mode: str = "auto", **options: str) -> GraphView:
    file = folder / "model.py"
    file.write_text(textwrap.dedent(source))
    return Drawn().ask(Request.create(str(file), mode=mode, **options)).graph.view  # type: ignore[arg-type]


def lost(view: GraphView) -> dict[str, str]:
    return {n.name: n.note for n in view.nodes if n.mark == LOST}


def idle(view: GraphView) -> list[str]:
    return [n.type for n in view.nodes if n.mark == IDLE]


def cuts(view: GraphView) -> list[tuple[str, str, str]]:
    by_id = view.by_id()
    return [(by_id[e.source].type, by_id[e.target].type, e.cut) for e in view.edges if e.cut]


def test_a_training_loop_shows_what_its_last_step_lost(tmp_path: Path) -> None:
    view = view_of(tmp_path, LOOP)
    assert lost(view) == {
        "net.det.weight": "detached, model.py:13",
        "net.det.bias": "detached, model.py:13",
        "net.head.weight": "used, but no path to the loss",
        "net.head.bias": "used, but no path to the loss",
        "net.never.weight": "unused",
        "net.never.bias": "unused",
    }
    assert cuts(view) == [("detach", "elementwise_add", "detached")]
    chain = ["matmul_v2", "elementwise_add"]
    assert idle(view) == [*chain, "detach", *chain, "reduce_sum"]
    assert next(n.note for n in view.nodes if n.type == "detach" and n.kind == OP) == "detached"


def test_operators_stand_in_the_order_of_the_calls(tmp_path: Path) -> None:
    view = view_of(tmp_path, LOOP)
    types = [n.type for n in view.nodes if n.kind == OP and n.part == FORWARD]
    assert types.index("detach") < types.index("elementwise_sub")
    assert len({n.id for n in view.nodes}) == len(view.nodes)
    ids = {n.id for n in view.nodes}
    assert {i for e in view.edges for i in (e.source, e.target, e.tensor)} <= ids


def test_inputs_have_their_names_and_one_node_each(tmp_path: Path) -> None:
    view = view_of(tmp_path, LOOP)
    names = [n.name for n in view.nodes if n.role == "constant"]
    assert sorted(names) == ["mask", "x", "y"]


def test_what_a_call_is_given_has_not_the_name_of_what_it_gives(tmp_path: Path) -> None:
    view = view_of(tmp_path, f"{NET}\nnet = Net()\nloss = net(paddle.randn([8, 4])).mean()\nloss.backward()\n")
    assert [n.name for n in view.nodes if n.name.startswith("loss") and n.part == FORWARD] == ["loss"]


def test_a_cut_has_its_sign_in_every_form_with_places(tmp_path: Path) -> None:
    scene = mirror(view_of(tmp_path, LOOP))
    number = len(cuts(scene.view))
    assert number > 0
    assert render(scene).count('label="✂" shape=circle') == number
    assert 'label="✂"' not in render(scene, placed=False)


def test_every_operand_is_shown(tmp_path: Path) -> None:
    """Backward needs neither addend, and the tape keeps none; the picture has both."""
    view = view_of(tmp_path, LOOP)
    by_id = view.by_id()
    subtraction = next(n.id for n in view.nodes if n.type == "elementwise_sub")
    assert [by_id[e.tensor].name for e in view.edges if e.target == subtraction] == ["elementwise_add.2", "y"]


def test_a_static_program_shows_the_same(tmp_path: Path) -> None:
    view = view_of(tmp_path, MODEL, mode="static")
    assert set(lost(view).values()) == {"detached, model.py:13", "used, but no path to the loss", "unused"}
    assert len(lost(view)) == 6
    assert [(target, reason) for _, target, reason in cuts(view)] == [("elementwise_add", "detached")]
    assert "reduce_sum" in idle(view)


GAN = """
import paddle
from paddle import nn

generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)
for step in range(3):
    fake = generator(paddle.randn([4, 2]))
    loss_c = critic(fake.detach()).mean() - critic(paddle.randn([4, 3])).mean()
    loss_c.backward()
    loss_g = -critic(fake).mean()
    loss_g.backward()
"""


@pytest.mark.parametrize(("call", "parameters"), [("5", {"generator.weight", "generator.bias"}), ("6", set())])
def test_a_pass_shows_its_own_step_and_no_other(tmp_path: Path, call: str, parameters: set[str]) -> None:
    view = view_of(tmp_path, GAN, backward=call)
    assert set(lost(view)) == parameters
    assert {reason for *_, reason in cuts(view)} == ({"detached"} if parameters else set())
    assert len([n for n in view.nodes if n.kind == OP and n.part == FORWARD]) < 14


def test_frozen_parameters_say_so(tmp_path: Path) -> None:
    source = NET + "net = Net()\nnet.fc.weight.trainable = False\nloss = net(paddle.randn([2, 4])).mean()\n"
    assert lost(view_of(tmp_path, source))["net.fc.weight"] == "frozen: trainable=False, model.py:18"


def test_where_only_a_shape_is_read_nothing_is_cut(tmp_path: Path) -> None:
    source = """
    import paddle
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    loss = (w + paddle.zeros_like(w * 2)).sum()
    """
    assert cuts(view_of(tmp_path, source)) == []


def test_values_that_left_as_numbers_are_told_where_they_left(tmp_path: Path) -> None:
    source = """
    import paddle
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    v = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    scale = (w * w).sum()
    loss = (v * float(scale)).sum()
    loss.backward()
    """
    view = view_of(tmp_path, source)
    assert lost(view) == {"w": "detached, model.py:6"}
    assert idle(view) == ["elementwise_mul", "reduce_sum"]


def test_what_a_file_that_raised_had_computed_is_drawn(tmp_path: Path) -> None:
    view = view_of(tmp_path, LOOP.replace("optimizer.step()", "raise ValueError"))
    assert len(lost(view)) == 6


def test_running_means_are_no_parameters_that_lost_their_gradient(tmp_path: Path) -> None:
    for mode in ("eager", "static"):
        source = """
        import paddle
        def build():
            net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4))
            x = paddle.static.data("x", [5, 3]) if not paddle.in_dynamic_mode() else paddle.randn([5, 3])
            loss = (net(x) ** 2).mean()
            return (loss, net) if paddle.in_dynamic_mode() else loss
        """
        view = view_of(tmp_path, source, mode=mode)
        assert (lost(view), cuts(view)) == ({}, [])
        assert len([n for n in view.nodes if n.role == "state"]) == 2


def test_a_cut_names_what_ends_the_gradient_rather_than_what_passes_it_on(tmp_path: Path) -> None:
    source = """
    import paddle
    scores = paddle.to_tensor([[1.0, 3.0, 2.0]], stop_gradient=False)
    values, indices = paddle.topk(scores, 2)
    mask = (indices == 1).astype("float32")
    loss = (values * mask).sum()
    """
    view = view_of(tmp_path, source)
    reason = "topk passes no gradient through its result indices, only through values"
    assert cuts(view) == [("cast", "elementwise_mul", reason)]
    by_id = view.by_id()
    indices = next(e for e in view.edges if by_id[e.target].type == "equal" and by_id[e.source].type == "top_k_v2")
    assert by_id[indices.tensor].name == "indices"


def test_behind_a_frozen_layer_the_cut_says_frozen(tmp_path: Path) -> None:
    source = """
    import paddle
    from paddle import nn
    frozen, head = nn.Linear(3, 3), nn.Linear(3, 1)
    for p in frozen.parameters():
        p.stop_gradient = True
    loss = head(paddle.tanh(frozen(paddle.ones([2, 3])))).mean()
    """
    assert {reason for *_, reason in cuts(view_of(tmp_path, source))} == {"frozen: trainable=False, model.py:6"}


# -- births -----------------------------------------------------------------------------------------------------------

ROOT = """
import paddle
w = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
for step in range(3):
    loss = paddle.sqrt(w * w).sum()
    loss.backward()
    w.clear_gradient()
    if step == 1:
        w.set_value(paddle.to_tensor([float("nan"), 1.0]))
"""


def births(view: GraphView) -> list[tuple[str, str]]:
    return [(n.name, n.note) for n in view.nodes if n.mark == BIRTH]


def test_the_birth_of_a_pass_is_marked_although_its_gradients_are_cleared(tmp_path: Path) -> None:
    view = view_of(tmp_path, ROOT, backward="1")
    assert births(view) == [("elementwise_mul_grad.0", "nan in 2 of 2 elements")] or births(view) == [
        ("sqrt_grad.0", "inf in 2 of 2 elements")
    ]


def test_what_was_bad_before_the_pass_is_marked_where_it_comes_in(tmp_path: Path) -> None:
    assert births(view_of(tmp_path, ROOT)) == [("w", "nan in 1 of 2 elements, from before")]


def test_finite_passes_have_no_birth_whatever_others_gave(tmp_path: Path) -> None:
    source = ROOT.replace("[0.0, 0.0]", "[1.0, 2.0]")
    assert births(view_of(tmp_path, source, backward="1")) == []
    assert births(view_of(tmp_path, source)) == [("w", "nan in 1 of 2 elements, from before")]


def test_data_that_an_operator_outside_of_the_picture_spoiled_are_marked(tmp_path: Path) -> None:
    source = """
    import paddle
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x = paddle.log(paddle.to_tensor([0.0, 1.0]))
    loss = (w * x).sum()
    loss.backward()
    """
    assert births(view_of(tmp_path, source)) == [("x", "inf in 1 of 2 elements")]
