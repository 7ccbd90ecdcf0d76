"""Whatever stands in a user's module, class, object or layer: each command answers as without it, and runs none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradtool import paddle
from gradtool.cli.commands import every
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.recorders.recorded import heap
from gradtool.engine.recorders.recorded.heap import Describer, Rebuilder
from gradtool.engine.script import paths
from gradtool.engine.script.paths import Walk
from gradtool.paddle.nn import Layer
from tests.cli import hostile
from tests.cli.conftest import VALUES, WITHOUT_A_MODEL, Run, Write, named

EAGER = """\
import paddle
from tests.cli import hostile

class Config:
    locals().update(hostile.chosen())

class Net(paddle.nn.Layer):
    locals().update(hostile.chosen())
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(3, 2)
        self.blocks = [paddle.nn.Linear(2, 2)]
        vars(self).update(hostile.chosen())
    def forward(self, x):
        locals().update(hostile.chosen())
        return self.blocks[0](self.fc(x)).tanh()

globals().update(hostile.chosen())
net, held, table = Net(), Config(), {"w": paddle.create_parameter([2], "float32"), **hostile.chosen()}
vars(held).update(hostile.chosen())
listed = [*hostile.chosen().values()]
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(2):
    loss = (net(paddle.ones([4, 3])) * table["w"]).sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
STATIC = """\
import paddle
from tests.cli import hostile
paddle.enable_static()
globals().update(hostile.chosen())
x = paddle.static.data("x", [4, 3])
net = paddle.nn.Linear(3, 2)
vars(net).update(hostile.chosen())
loss = paddle.mean(net(x))
held = {**hostile.chosen()}
"""
COMMANDS = [
    *("backward", "check", "checkup", "diff", "flow", "gradcheck", "graph", "graph --dump", "nan", "report", "stats"),
    *("stats --memory", "stats --time", "sweep", "why"),
]

MORE = {"report": ["--md", "written"]}
"""What else a command is given."""


@pytest.fixture(autouse=True)
def untouched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where code of a value ran; a long list has more entries than are looked into."""
    monkeypatch.setattr(paths, "_MOST", hostile.LONG - 100)
    monkeypatch.setattr(heap, "_MOST", hostile.LONG - 100)
    hostile.TOUCHED.clear()
    yield
    hostile.CHOSEN[:] = []
    assert hostile.TOUCHED == []


def answers(gradtool: Run, file: str, command: str, kinds: list[str]) -> list[str]:
    """Return the words of an answer about a file with values of some kinds, and of what was written; no times."""
    hostile.CHOSEN[:] = kinds
    done = gradtool(*named(command, file), *MORE.get(command, ()))
    assert done.code in (0, 1), done
    written = Path(VALUES.get(command, "written"))
    files = sorted(written.rglob("*")) if written.is_dir() else [written] if written.exists() else []
    texts = [done.out, done.err, *(f.read_bytes().decode(errors="replace") for f in files if f.is_file())]
    shutil.rmtree(written, ignore_errors=True)
    if command == "stats --time":
        return sorted(word for text in texts for word in text.split() if re.search("[a-z]{3}", word))
    return texts


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_answers_as_without_them(gradtool: Run, model: Write, command: str) -> None:
    file = model(EAGER)
    assert answers(gradtool, file, command, [*hostile.KINDS]) == answers(gradtool, file, command, [])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", ["backward", "why", "check", "graph --text"])
def test_programs_are_answered_as_without_them(gradtool: Run, model: Write, command: str) -> None:
    file = model(STATIC)
    assert answers(gradtool, file, command, [*hostile.KINDS]) == answers(gradtool, file, command, [])


class Holder:
    """Holds a value and a tensor."""


class Half(Layer):
    """A layer that was never made ready."""

    def __init__(self) -> None:
        pass


def placed(value: Any, tensor: Any) -> dict[str, Any]:
    """A scope that holds the value wherever one can stand."""
    layer, held = Layer(), Holder()
    vars(layer).update(value=value, tensor=tensor)
    vars(held).update(value=value, tensor=tensor)
    kind = type("Kind", (Holder,), {"value": value, "tensor": tensor, "__module__": __name__})
    return {
        "value": value,
        "layer": layer,
        "held": held,
        "kind": kind,
        "half": Half(),
        "listed": [value, tensor],
        "table": {"value": value, "tensor": tensor},
        "space": SimpleNamespace(value=value, tensor=tensor),
    }


@pytest.mark.parametrize("kind", hostile.KINDS)
@pytest.mark.usefixtures("dynamic")
def test_tensors_are_found_past_a_value(kind: str) -> None:
    tensors = [paddle.ones([1]) for _ in range(2)]
    found = []
    for value, t in zip((hostile.KINDS[kind](), None), tensors, strict=True):
        ways = [{key: held} for key, held in placed(value, t).items()]
        found.append([[path for path, _ in Walk().tensors(way)] for way in ways])
    assert found[0] == found[1]
    assert sum(map(len, found[0])) == 6


@pytest.mark.parametrize("kind", hostile.KINDS)
@pytest.mark.usefixtures("dynamic")
def test_what_a_recorded_program_holds_is_described_past_a_value(kind: str) -> None:
    t = paddle.ones([1])
    told = []
    for value in (hostile.KINDS[kind](), None):
        describer = Describer(lambda _: 7, AnyTensor, Layer, ("_parameters", "_sub_layers", "_buffers"))
        left = describer.names(placed(value, t))
        made = Rebuilder(describer.objects, {7: t}, "package").names(left)
        told.append([path for path, _ in Walk().tensors(made)])
        assert str((left, describer.objects)).count("'tensor': 7") == 5
    assert told[0] == told[1]


def test_every_command_that_looks_into_a_model_is_asked() -> None:
    listings = {"graph --text", "graph --pairs", "graph --where"}
    about_something_else = {*WITHOUT_A_MODEL, *listings, "debug", "export", "gradients"}
    assert {*every()} - about_something_else == {*COMMANDS}
