"""Statements that compute something from what the loss reads and drop the result; and those that only look so."""

from __future__ import annotations

import textwrap
from pathlib import Path

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

MODEL = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Gate(nn.Layer):
    def forward(self, x):
        return F.sigmoid(x)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.mid, self.head = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)
        self.act, self.drop, self.gate = nn.ReLU(), nn.Dropout(0.5), Gate()
        self.features = []
        self.mid.register_forward_post_hook(lambda layer, given, out: self.features.append(out))
        self.tail = nn.Sequential(self.mid, nn.ReLU())

    def act_on(self, h):
        return F.relu(h)

    def named(self, h):
        out = F.relu(h)
        return out

    def forward(self, x):
        h = self.body(x)
{statement}
        return self.head(h)


def main():
    net = Net()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    net(paddle.rand([8, 4]))
    for i in range(2):
        loss = F.mse_loss(net(paddle.rand([8, 4])), paddle.ones([8, 1]))
        loss.backward()
        opt.step()
        opt.clear_grad()


main()
"""

DROPPED = (
    *("F.relu(h)", "paddle.tanh(h)", "self.act(h)", "self.drop(h)", "self.gate(h)", "self.act_on(h)"),
    *("h.clip(0, 1)", "h.reshape([4, 16])", "paddle.concat([h, h])", "F.softmax(F.relu(h))", "x.flatten()"),
    *("F.dropout(h, p=0.5)", "paddle.add(h, h)", "self.act(self.gate(h))", "h.detach()", "h / h.norm()"),
    *("self.named(h)",),
)
KEPT = (
    *("h = F.relu(h)", "F.relu_(h)", "h.add_(paddle.ones([8]))", "kept = F.relu(h)", "self.kept = F.relu(h)"),
    *("self.features.append(F.relu(h))", "print(F.relu(h).mean().item())", "with paddle.no_grad(): F.relu(h)"),
    *("F.relu(h.detach())", "h.shape", "paddle.assign(F.relu(h), h)", "h.numpy()", "h.argmax(-1)"),
    "self.tail(h); h = self.features.pop()",
)


def found(statements: tuple[str, ...], tmp_path: Path) -> list[str]:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(statement=textwrap.indent("\n".join(statements), " " * 8)))
    lines = path.read_text().splitlines()
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT113",)))
    return [lines[f.spot.line - 1].strip() for f in said if f.spot is not None]


def test_results_that_are_dropped_are_found(tmp_path: Path) -> None:
    assert found(DROPPED, tmp_path) == [*DROPPED]


def test_statements_that_change_or_keep_something_are_silent(tmp_path: Path) -> None:
    assert found(KEPT, tmp_path) == []


PROGRAM = """\
import paddle
import paddle.nn.functional as F
from paddle import static

paddle.enable_static()


class Gate(paddle.nn.Layer):
    def forward(self, h):
        return F.sigmoid(h)


def act_on(h):
    out = F.relu(h)
    return out


main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    x, y = static.data("x", [8, 4]), static.data("y", [8, 1])
    h = static.nn.fc(x, 8)
    kept = []
{statement}
    loss = F.mse_loss(static.nn.fc(h, 1), y)
    test = main.clone(for_test=True)
    paddle.optimizer.SGD(0.1).minimize(loss)
"""


def found_in_program(statements: tuple[str, ...], tmp_path: Path, code: str) -> list[str]:
    path = tmp_path / "model.py"
    path.write_text(PROGRAM.format(statement=textwrap.indent("\n".join(statements), " " * 4)))
    lines = path.read_text().splitlines()
    said = findings(Request.create(str(path)), path.name, Selection(select=(code,)))
    return [lines[f.spot.line - 1].strip() for f in said if f.spot is not None]


def test_statements_that_build_a_program_and_drop_results_are_found(tmp_path: Path) -> None:
    dropped = ("F.relu(h)", "paddle.clip(h, 0, 1)", "act_on(h)", "Gate()(h)", "F.softmax(F.relu(h))", "h * 2")
    assert found_in_program(dropped, tmp_path, "GT113") == [*dropped]


def test_statements_that_keep_print_or_write_in_a_program_are_silent(tmp_path: Path) -> None:
    kept = ("h2 = F.relu(h)", "kept.append(F.relu(h))", "static.Print(h)", "paddle.assign(F.relu(h), h)", "F.relu(x)")
    assert found_in_program(kept, tmp_path, "GT113") == []


def test_a_layer_whose_result_is_dropped_is_found_where_it_is_called(tmp_path: Path) -> None:
    assert found_in_program(("static.nn.fc(h, 8)",), tmp_path, "GT102") == ["static.nn.fc(h, 8)"]
