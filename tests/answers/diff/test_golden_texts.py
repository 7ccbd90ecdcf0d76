"""An outline as text: what is written is read, and what is no outline is refused with its line."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from gradtool.engine.answers.diff import golden
from gradtool.engine.answers.diff.outline import (
    CONSTANT,
    NOTHING,
    PARAMETER,
    Outline,
    OutlineLeaf,
    OutlineOperand,
    OutlineOperation,
)
from gradtool.engine.answers.diff.structure import difference
from gradtool.engine.core.notes import SILENT
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.sides import outline_of
from gradtool.engine.request.request import Request
from tests.answers.diff.planted import drawn

ROOT = Path(__file__).parents[3]
MODELS = ["samples/word_embedding.py", "samples/gradient_penalty.py", "samples/eager_decoder.py"]


def outline(path: str) -> Outline:
    return outline_of(path, Request(path), Backward(), SILENT)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_written_is_read(model: str) -> None:
    before = outline(str(ROOT / model))
    text = golden.write(before)
    after = golden.read(text, "graph.gt.txt")
    assert difference(before, after).empty
    assert difference(after, before).empty
    assert golden.write(after) == text


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("mode", ["static", "eager"])
def test_random_models_are_read_as_written(seed: int, mode: str, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(drawn(random.Random(seed)).text(mode), encoding="utf-8")
    before = outline(str(file))
    assert difference(before, golden.read(golden.write(before), "x")).empty


def test_names_of_any_characters_are_read_as_written() -> None:
    strange = 'a "b", c: %d\n[e] = f'
    leaves = {
        strange: OutlineLeaf(strange, PARAMETER, (2, -1), "float32", "cut: x, y"),
        "c": OutlineLeaf("c", CONSTANT, (), "bool"),
    }
    read = [OutlineOperand("X", NOTHING, strange), OutlineOperand("Y", NOTHING, "c")]
    first = OutlineOperation(strange, "add", strange, 0, {"t": strange, "n": [1, None]}, read)
    second = OutlineOperation("relu.0", "relu", "", 2, {}, [OutlineOperand("X", 0, "Out")])
    back = OutlineOperation("relu_grad", "relu_grad", "", 0, {}, (), 1)
    before = Outline("x", "eager", strange, 2, [first, second, back], leaves, {"no_grad": [strange, "c"]})
    text = golden.write(before)
    after = golden.read(text, "x")
    assert (after.loss, after.operations, dict(after.leaves)) == (strange, [first, second, back], leaves)
    assert after.settings == {"no_grad": [strange, "c"]}
    assert "\\n[e]" in text


HEAD = "gradtool graph 1\nmode eager\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "first line"),
        ("{}", "first line"),
        (b"\xff", "byte 0 is none"),
        (f"{HEAD}nonsense", "x:3: expected a line of an outline, but it is 'nonsense'"),
        (f"{HEAD}[] relu.0 = relu(X: h)", "x:3: expected a line of an outline, but it reads h, which is no leaf above"),
        (f"{HEAD}[] relu.0 = relu(X: %h:Out)", "but it reads from h, which is no operator above"),
        (f"{HEAD}[] relu.0 = relu() {{1}}", "but it has what is no JSON"),
        (f'{HEAD}loss "a', "but it has what is no JSON"),
        (f"{HEAD}data x float32[2, a]", "but it has '2, a' as its sizes"),
        (f"{HEAD}data x float32[{'9' * 5000}]", "as its sizes"),
        (
            f"{HEAD}data x int32[]\ndata x int32[]",
            "x:4: expected a line of an outline, but it has the leaf x a second time",
        ),
        (f"{HEAD}[] a = relu()\n[] a = relu()", "but it has the operator 'a' a second time"),
        (f"{HEAD}backward relu_grad of relu.0", "but it is of relu.0, which is no operator above"),
        (f"{HEAD}backward relu_grad\n[] a = relu()", "but it has a forward operator, after backward ones"),
        ("gradtool graph 1\nmode neither", "expected the mode, static or eager, but it is 'neither'"),
    ],
)
def test_what_is_no_outline_is_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(golden.GoldenError) as refused:
        golden.read(text, "x")
    assert said in str(refused.value)


def test_a_cut_whose_line_moved_is_no_change() -> None:
    here = outline(str(ROOT / "samples/frozen_branch.py"))
    cut = next(leaf for leaf in here.leaves.values() if leaf.gradient.startswith("cut: detached, frozen_branch.py:"))
    moved = replace(cut, gradient=cut.gradient.rpartition(":")[0] + ":1")
    there = replace(here, leaves={**here.leaves, cut.name: moved})
    assert cut.reason == moved.reason == "cut: detached"
    assert difference(here, there).empty
    assert golden.write(here) == golden.write(there)
    assert "frozen_branch.py" not in golden.write(here)
