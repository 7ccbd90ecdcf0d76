"""What a kind of model cannot do is data, told in one place, and no command asks which kind it has."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.kinds.model import Model
from gradtool.engine.loading import opening
from gradtool.engine.request.request import Request

ROOT = Path(__file__).parents[2]
EAGER = "import paddle\nw = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\nloss = (w * w).sum()\n"
STATIC = (
    "import paddle\npaddle.enable_static()\nx = paddle.static.data('x', [2, 3])\n"
    "loss = paddle.mean(paddle.static.nn.fc(x, 2))\n"
)


@pytest.fixture
def path(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    file = tmp_path / "model.py"
    file.write_text(request.param)
    return str(file)


@pytest.mark.parametrize("path", [EAGER, STATIC], indirect=True, ids=["eager", "static"])
def test_each_refusal_is_told_with_the_option_and_the_model(path: str) -> None:
    with opening.open_model(Request(path)) as model:
        assert model.refusals
        for feature in model.refusals:
            assert model.refuses(feature)
            with pytest.raises(CommandError) as refused:
                model.must_take({"--nothing": True, feature: True})
            told = str(refused.value)
            assert "{" not in told
            assert feature.rpartition(" ")[2] in told or "model.py" in told
        model.must_take(dict.fromkeys(model.refusals, False))


@pytest.mark.parametrize("kind", opening.KINDS, ids=lambda kind: kind.mode)
def test_kinds_have_a_mode_of_their_own(kind: type[Model]) -> None:
    assert [k.mode for k in opening.KINDS].count(kind.mode) == 1


TASKS = [(kind, name) for kind in opening.KINDS for name in kind.tasks]


def parameters(function: Callable[..., Any]) -> list[tuple[str, str, bool]]:
    """Name, annotation without modules, and kind of the parameters."""
    given = inspect.signature(function).parameters.values()
    return [(p.name, re.sub(r"\b\w+\.", "", str(p.annotation)), p.kind is p.KEYWORD_ONLY) for p in given]


@pytest.mark.parametrize(("kind", "name"), TASKS, ids=[f"{kind.mode} {name}" for kind, name in TASKS])
def test_each_task_takes_what_its_method_takes(kind: type[Model], name: str) -> None:
    """Functions are called through a table, so that no type checker compares the two."""
    method = inspect.getattr_static(kind, name)
    of_class = isinstance(method, classmethod)
    takes = parameters(method.__func__ if of_class else method)[1:]
    function = kind._task(name)
    does = parameters(function)[0 if of_class or not takes else 1 :]
    for (wanted, annotation, only), (given, its, is_only) in zip(takes, does, strict=len(does) < len(takes)):
        assert (given, is_only) == (wanted, only)
        assert annotation in (its, "Any")


@pytest.mark.parametrize("kind", opening.KINDS, ids=lambda kind: kind.mode)
def test_kinds_have_a_function_for_every_task(kind: type[Model]) -> None:
    """Methods that the base passes on, and those of the kind itself."""
    files = [inspect.getsource(importlib.import_module(each.__module__)) for each in (Model, kind)]
    assert set(kind.tasks) == {name for file in files for name in re.findall(r'\._task\("(\w+)"\)', file)}


def test_no_command_and_no_view_asks_for_the_kind() -> None:
    switches = re.compile(r"isinstance\([^)]*(ProgramModel|TapeModel)")
    files = [*(ROOT / "cli").rglob("*.py"), *(ROOT / "viz").rglob("*.py")]
    assert not [f.name for f in files if switches.search(f.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", [EAGER, STATIC], indirect=True, ids=["eager", "static"])
def test_tensors_are_selected_and_counted(path: str) -> None:
    with opening.open_model(Request(path)) as model:
        eager = model.mode == "eager"
        assert [t.name for t in model.leaves()] == (["generated_tensor_0"] if eager else ["fc_0.w_0", "fc_0.b_0"])
        assert [t.name for t in model.inputs()] == ([] if eager else ["x"])
        assert len(model.parameters()) == (0 if eager else 2)
        (selected,) = model.select("w" if eager else "*.w_0", parameters_only=True)
        assert selected is model.leaves()[0]
        assert model.target_name() == ("loss" if eager else "mean_0.tmp_0")
