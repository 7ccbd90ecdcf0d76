"""Every sample does what its text says: losses fall, frozen parameters stay without a gradient."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gradtool import paddle
from tests import processes

SAMPLES = Path(__file__).parents[2] / "samples"

FULLY_CONNECTED = ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]

Load = Callable[[str], ModuleType]


def test_lenet_learns_to_read_digits(sample: Load) -> None:
    history, accuracy = sample("lenet_digits").train()
    assert history[0] > 1.0
    assert history[-1] < 0.2 * history[0]
    assert accuracy > 0.8


def test_the_shipped_digits_are_the_described_ones(sample: Load) -> None:
    images, labels = sample("lenet_digits").digits()
    assert images.shape == (1797, 1, 8, 8)
    assert images.min() == 0.0
    assert images.max() == 1.0
    assert np.bincount(labels[:, 0]).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_word_vectors_learn_the_text(sample: Load) -> None:
    history = sample("word_embedding").train()
    assert history[0] == pytest.approx(np.log(93), abs=0.05)  # no idea yet: all 93 words are equally likely
    assert history[-1] < 0.2 * history[0]


def test_the_shared_table_gets_the_sum_of_two_contributions(sample: Load) -> None:
    loss, _ = sample("word_embedding").build()
    [(table, gradient)] = paddle.static.append_backward(loss)
    assert table.name == "words"
    assert gradient.op.type == "sum"
    parts = gradient.op.input("X")
    makers = {n: op.type for op in loss.block.ops for n in op.output_arg_names}
    assert [makers[n] for n in parts] == ["matmul_v2_grad", "lookup_table_v2_grad"]


def test_curvature_by_products_is_that_of_the_whole_hessian(sample: Load) -> None:
    module = sample("hessian_vector")
    model = module.Model()
    model.descend(300, 0.05)
    sizes = [int(np.prod(p.shape)) for p in model.parameters]
    ends = np.cumsum(sizes)
    rows = []
    for unit in np.eye(sum(sizes), dtype="float32"):
        parts = np.split(unit, ends[:-1])
        feed = {f"{p.name}.v": v.reshape(p.shape) for p, v in zip(model.parameters, parts, strict=True)}
        rows.append(np.concatenate([h.reshape(-1) for h in model._run(feed, model.products)]))
    hessian = np.array(rows)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-4)
    assert model.curvature(200) == pytest.approx(np.abs(np.linalg.eigvalsh(hessian)).max(), rel=1e-3)


def test_a_rate_beyond_the_curvature_leaves_the_minimum(sample: Load) -> None:
    sharpest, losses = sample("hessian_vector").main()
    assert sharpest > 1.0
    assert losses[1.3] > 1.5 * losses[0.8]


def test_a_recomputed_transformer_learns_the_same_in_less_memory(sample: Load) -> None:
    module = sample("recomputed_transformer")
    (plain, most), (some, less), (auto, least) = (
        module.train(c, steps=16) for c in (None, lambda layers: layers[2:-1:3], "auto")
    )
    assert plain == some == auto
    assert np.mean(plain[-3:]) < 0.5 * plain[0]
    assert less < 0.4 * most
    assert least < 0.25 * most
    assert module.dynamic(recomputing=True, steps=2) == module.dynamic(recomputing=False, steps=2)


def test_the_penalty_pulls_the_critics_steepness_towards_one(sample: Load) -> None:
    history = sample("gradient_penalty").train()
    losses, penalties = zip(*history, strict=True)
    assert np.mean(losses[-20:]) < losses[0] - 2.0
    assert np.mean(penalties[-20:]) < 0.5 * penalties[0]


def test_the_penalty_needs_gradients_of_gradients(sample: Load) -> None:
    loss, _ = sample("gradient_penalty").build()
    paddle.static.append_backward(loss)
    assert {"tanh_grad", "tanh_grad_grad"} <= {op.type for op in loss.block.ops}


def test_digits_are_said_backwards(sample: Load) -> None:
    history, right = sample("reversing_digits").train()
    assert history[0] == pytest.approx(np.log(10), abs=0.5)  # no idea yet
    assert history[-1] < 0.05 * history[0]
    assert right > 0.95


def test_both_loops_have_a_backward_block(sample: Load) -> None:
    loss, _ = sample("reversing_digits").build()
    paddle.static.append_backward(loss)
    loops = [op for op in loss.block.ops if op.type.startswith("while")]
    assert [op.type for op in loops] == ["while", "while", "while_grad", "while_grad"]
    assert [op.attr("sub_block").forward_block_idx for op in loops] == [-1, -1, 2, 1]


def test_each_source_gets_an_expert_of_its_own(sample: Load) -> None:
    history, experts = sample("mixture_of_experts").train()
    assert sorted(experts) == [0, 1, 2]
    assert np.mean(history[-30:]) < 0.02 * np.mean(history[:30])


def test_only_the_expert_that_answers_learns(sample: Load) -> None:
    loss, feed = sample("mixture_of_experts").build()
    pairs = paddle.static.append_backward(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    values = exe.run(feed=feed, fetch_list=[g for _, g in pairs])
    moved = {p.name for (p, _), value in zip(pairs, values, strict=True) if value.any()}
    (expert,) = {name[:7] for name in moved if name.startswith("expert")}
    assert moved == {"router.w_0", "router.b_0", f"{expert}.w_0", f"{expert}.b_0"}
    assert len(pairs) == 8


def test_frozen_branch_as_a_script() -> None:
    done = processes.run([sys.executable, str(SAMPLES / "frozen_branch.py")], check=True)
    assert done.stderr == ""
    assert [line.split() for line in done.stdout.splitlines()[1:]] == [
        ["body.w_0", "body.w_0@GRAD"],
        ["body.b_0", "body.b_0@GRAD"],
        ["head.w_0", "head.w_0@GRAD"],
    ]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("lenet_digits", ["conv2d_0.w_0", "conv2d_0.b_0", "conv2d_1.w_0", "conv2d_1.b_0", *FULLY_CONNECTED]),
        ("word_embedding", ["words"]),
        ("gradient_penalty", ["hidden.w", "hidden.b", "score.w"]),
        ("frozen_branch", ["body.w_0", "body.b_0", "head.w_0", "head.b_0"]),
        (
            "reversing_digits",
            ["digits", "read_digit", "read_state", "write_digit", "write_state", "write_memory", "say"],
        ),
    ],
)
def test_the_command_line_runs_the_backward_part(name: str, parameters: list[str]) -> None:
    start = "import sys; from gradtool.cli.main import main; sys.exit(main())"
    command = ["backward", str(SAMPLES / f"{name}.py"), "--run", "--format", "json"]
    done = processes.run([sys.executable, "-c", start, *command], check=True)
    assert "from build()" in done.stderr  # what to feed came with the model
    rows = {r["name"]: r for r in json.loads(done.stdout)["parameters"]}
    assert [p for p, row in rows.items() if row["status"] == "ok"] == parameters
    assert all(rows[p]["values"]["norm"] > 0 for p in parameters)
