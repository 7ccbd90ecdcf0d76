"""Help: every verb by what it is for, and a page for each, whose examples can be typed as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradtool.viz.debugger import verbs
from tests.viz.debugger.conftest import Open, said

MODEL = """\
import paddle

paddle.seed(1)
x = paddle.randn([2, 3])
w = paddle.randn([3, 3])
w.stop_gradient = False


h = paddle.nn.functional.relu(x @ w)
loss = (h * h).sum()
"""

LOOP = """\
import paddle

paddle.enable_static()
w = paddle.static.create_parameter([1], "float32")
i = paddle.full([1], 0, "int64")
s = paddle.full([1], 0.0)
_, total = paddle.static.nn.while_loop(lambda i, s: i < 3, lambda i, s: [i + 1, s + w], [i, s])
loss = paddle.mean(total)
"""

BEFORE = {
    "goto In[1]": ["list"],
    "rerun 1": ["list"],
    "rerun 1 2": ["list", "edits"],
    "delete 1": ["catch nan"],
    "disable 1": ["catch nan"],
    "enable 1": ["catch nan"],
    "undo": ["zero h@GRAD"],
    "compare base guard": ["fork guard"],
}
"""What has to be there for an example."""

EXAMPLES = [(v.name, example) for v in verbs.table().values() for example in v.examples]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_examples_can_be_typed_as_they_stand(
    name: str, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    # The folder is changed before the model is loaded and back after it is closed, which gives back the folder it had.
    monkeypatch.chdir(tmp_path)
    book = opened(LOOP if name == "inside" else MODEL)
    for line in BEFORE.get(example, []):
        assert book.execute(line)[1].error is None
    cell, reply = book.execute(example)
    assert reply.error is None, cell.text
    assert not reply.failed or name in ("continue", "rcontinue")
    split = verbs.split(example)
    assert split is not None
    assert split[0].name == name


def test_every_verb_has_a_page(opened: Open) -> None:
    book = opened(MODEL)
    table = verbs.table()
    for v in table.values():
        assert v.help.endswith("."), v.name
        assert v.examples, v.name
        assert set(v.then) <= set(table) - {v.name}, v.name
        page = said(book, f"help {v.name}").split("\n")
        assert page[0].startswith(v.usage)
        assert page[1] == f"  {v.help}"
        assert page[page.index("examples") + 1 :][: len(v.examples)] == [f"  {e}" for e in v.examples]
        assert page[-1] == f"next  {' · '.join(v.then)}" if v.then else page[-1].startswith("  ")
        assert max(map(len, page)) <= 120


def test_help_lists_every_verb_once_by_its_purpose(opened: Open) -> None:
    text = said(opened(MODEL), "help")
    headings = [line for line in text.split("\n") if re.match(r"\w+: ", line)]
    assert headings == [f"{group}: {purpose}" for group, purpose in verbs.GROUPS.items()]
    listed = [line.split()[0] for line in text.split("\n") if re.match(r"  [a-z]", line)]
    assert listed[: len(verbs.table())] == list(verbs.table())


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("goto rellu.0", "there is relu.0"),
        ("goto 3", "%3 is operator 3 of the run"),
        ("goto 99", "the nearest are model.py:10, model.py:9"),
        ("goto model.py:7", "the nearest are model.py:9, model.py:10"),
        ("goto %99", "%8 is the last: matmul_v2_grad.0"),
        ("goto In[9]", "In[1] is the last"),
        ("goto w", "matmul_v2.0 is the first to read it"),
        ("goto zzz", "a place is an operator or its type, a tensor, FILE:LINE or layer:NAME"),
        ("break layer:h", "nothing here belongs to a layer"),
        ("break line:model.py:7", "the nearest are model.py:9, model.py:10"),
        ("break op:rellu", "there is relu"),
        ("until zzz", "a place is"),
        ("src rellu", "there is relu"),
        ("p w@GRD", "there is w@GRAD"),
        ("x w@GRD", "there is w@GRAD"),
        ("stp 3", "there is step · help lists the verbs"),
        ("help stp", "there is step"),
        ("help goto goto", "there is goto"),
    ],
)
def test_a_wrong_place_names_near_ones(line: str, hint: str, opened: Open) -> None:
    book = opened(MODEL)
    cell, reply = book.execute(line)
    assert reply.error is not None
    assert hint in cell.text.partition("\n  hint  ")[2]


@pytest.mark.parametrize(
    ("place", "operator"),
    [
        ("h@GRAD", "elementwise_mul_grad.0"),
        ("model.py:9", "relu_grad.0"),
        ("9", "relu_grad.0"),
        ("relu", "relu.0"),
        ("w@GRAD", "matmul_v2_grad.0"),
    ],
)
def test_places_to_go_to(place: str, operator: str, opened: Open) -> None:
    assert f" {operator} " in said(opened(MODEL), f"goto {place}").split("\n")[0]
