"""A step on several devices: planted bugs of distributed training are named, right scripts have no finding."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.questions.replicas import OnReplicas, Replicas
from gradtool.engine.request.request import Request

HEAD = """
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

x = paddle.sin(paddle.arange(64, dtype="float32")).reshape([16, 4])
y = paddle.arange(16) % 3
"""


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    def asked(body: str, mesh: str = "data=4", head: str = HEAD) -> OnReplicas:
        file = tmp_path / "train.py"
        file.write_text(head + textwrap.dedent(body), encoding="utf-8")
        return Replicas(mesh=mesh).ask(str(file), Request(model=str(file)))

    return asked


def test_a_net_without_anything_across_rows_is_the_same(ask: Any) -> None:
    answer = ask(
        """
        net = nn.Sequential(nn.Linear(4, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        """
    )
    assert answer.findings == 0
    assert not answer.unasked
    assert {g.state for g in answer.gradients} == {"right"}
    assert all(len(g.norms) == 4 for g in answer.gradients)


def test_batch_normalisation_takes_the_statistics_of_fewer_rows(ask: Any) -> None:
    body = """
        net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1D(6), nn.ReLU(), nn.Linear(6, 3))
        {convert}
        F.cross_entropy(net(x), y).backward()
        """
    plain = ask(body.format(convert=""))
    assert [(f.op, f.kind) for f in plain.operators] == [("batch_norm.0", "differs")]
    converted = ask(body.format(convert="net = nn.SyncBatchNorm.convert_sync_batchnorm(net)"))
    assert converted.findings == 0


def test_replicas_that_draw_the_same_numbers(ask: Any) -> None:
    body = """
        paddle.seed({seed})
        net = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.Linear(6, 3))
        F.cross_entropy(net(x), y).backward()
        """
    alike = ask(body.format(seed="7"))
    assert [(f.op, f.kind) for f in alike.operators] == [("dropout.0", "same numbers")]
    assert ask(body.format(seed="7 + paddle.distributed.get_rank()")).findings == 0


def test_a_gradient_that_nobody_sums(ask: Any) -> None:
    answer = ask(
        """
        net = nn.Linear(4, 3)
        F.cross_entropy(net(x), y).backward()
        for p in net.parameters():
            if p.ndim > 1:  # and the bias?
                paddle.distributed.all_reduce(p.grad)
        """
    )
    assert answer.exchanged
    assert {g.name: g.state for g in answer.gradients} == {"net.weight": "right", "net.bias": "not summed"}
    assert answer.findings == 1
    assert "nothing sums the gradient of net.bias" in str(answer)


@pytest.mark.filterwarnings("ignore:The program will return to single-card operation")
def test_data_parallel_leaves_out_what_it_does_not_wrap(ask: Any) -> None:
    answer = ask(
        """
        net, scale = nn.Linear(4, 3), paddle.create_parameter([3], "float32")
        net = paddle.DataParallel(net)
        F.cross_entropy(net(x) * scale, y).backward()
        """
    )
    assert [g.name for g in answer.gradients if g.state == "not summed"] == ["scale"]


def test_a_mean_over_what_is_not_as_much_in_each_part(ask: Any) -> None:
    answer = ask(
        """
        net = nn.Linear(4, 3)
        mask = (paddle.arange(16) < 10).astype("float32")
        each = F.cross_entropy(net(x), y, reduction="none").reshape([-1])
        ((each * mask).sum() / mask.sum()).backward()
        """
    )
    assert [f.op for f in answer.operators] == ["elementwise_div.0"]


def test_a_loss_that_sums_over_the_rows_is_told_with_its_factor(ask: Any) -> None:
    answer = ask("net = nn.Linear(4, 3)\nF.cross_entropy(net(x), y, reduction='sum').backward()")
    assert not answer.operators
    assert {(g.state, g.factor) for g in answer.gradients} == {("scaled", 0.25)}
    assert "would be 0.25 times as large" in str(answer)


def test_a_static_program_is_asked_too(ask: Any) -> None:
    answer = ask(
        """
        import paddle
        paddle.enable_static()
        paddle.static.default_main_program().random_seed = 5
        x = paddle.static.data("x", [16, 4])
        h = paddle.static.nn.batch_norm(paddle.static.nn.fc(x, 6))
        loss = paddle.mean(paddle.nn.functional.dropout(h, 0.5) ** 2)
        """,
        head="",
    )
    assert [(f.op, f.kind) for f in answer.operators] == [
        ("batch_norm.0", "differs"),
        ("dropout.0", "same numbers"),
    ]


def test_what_cannot_run_on_fewer_rows_is_told(ask: Any) -> None:
    answer = ask(
        """
        net = nn.Linear(4, 3)
        h = net(x).reshape([16, 3, 1]).sum(-1)
        F.cross_entropy(h, y).backward()
        """
    )
    assert answer.unasked == ["reshape2.0"]
    assert "but 1 could not be asked" in str(answer)
    assert "not asked: 1 operator that cannot run on fewer rows (reshape2.0)" in str(answer)


@pytest.mark.parametrize(
    ("mesh", "said"),
    [("data=3", "16 rows cannot be shared out evenly to 3"), ("model=2", "--mesh data=N"), ("data=1", "2 or more")],
)
def test_a_mesh_that_makes_no_sense(ask: Any, mesh: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        ask("net = nn.Linear(4, 3)\nF.cross_entropy(net(x), y).backward()", mesh)


def test_an_optimizer_has_written_to_what_gradients_read_the_shape_of(ask: Any) -> None:
    """A bias as long as the batch has rows, which the step has changed: it is no data."""
    answer = ask(
        """
        x, y = x[:2], y[:2] % 2
        net = nn.Linear(4, 2)
        optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        """,
        "data=2",
    )
    assert answer.findings == 0
    assert {g.state for g in answer.gradients} == {"right"}
