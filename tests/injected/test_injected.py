"""Faults have places in the right programs, change text alone, and a sample of them is named with cause and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling import sampled

from .__main__ import Bench, cases, judged
from .judging import checked
from .kinds import KINDS, Kind
from .programs import Program, programs, programs_of_torch
from .text import Edit, Text, with_probes
from .torch_kinds import TORCH_KINDS

SMALL = Program(
    "small",
    """\
import paddle
import paddle.nn.functional as F


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = paddle.nn.Linear(4, 8)
        self.head = paddle.nn.Linear(8, 3)

    def forward(self, x):
        h = paddle.tanh(self.body(x))
        return self.head(h)


def loss_of(net, x, y):
    scores = net(x)
    penalty = (net.head.weight**2).sum()
    loss = F.cross_entropy(scores, y) + 0.01 * penalty
    return loss


paddle.seed(0)
net = Net()
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([6, 4]), paddle.randint(0, 3, [6])
    value = loss_of(net, x, y)
    value.backward()
    opt.step()
    opt.clear_grad()
""",
    Path(__file__).parent,
)

NAMED = (
    *("detach", "numpy", "no_grad", "integer", "argmax", "round", "times_zero", "dead_relu"),
    *("log_of_zero", "root_of_negative", "term_detached", "term_number", "term_to_tensor"),
    *("first_layers_not_listed", "rate_of_zero", "no_step", "hook_of_zeros", "never_cleared", "loss_times_zero"),
    *("detached_loss", "probabilities_as_scores"),
)
"""Kinds that are named wherever they are put into the small program."""


def test_kinds_and_programs_are_many() -> None:
    assert len(KINDS) >= 40
    assert len(programs()) >= 60
    assert len(TORCH_KINDS) >= 60
    assert len(programs_of_torch()) >= 100


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_has_places_and_changes_text_alone(kind: Kind) -> None:
    found = 0
    for program in sampled(programs(), lambda p: f"{kind.name} {p.name}", 12):
        text = Text(program.source)
        for edit in kind.sites(text):
            changed = text.with_edit(edit)
            compile(changed, program.name, "exec")
            assert changed != program.source
            found += 1
    assert found or any(True for _ in cases(kind, programs(), 1))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", TORCH_KINDS, ids=lambda kind: f"torch {kind.name}")
def test_a_kind_has_places_in_programs_of_torch(kind: Kind) -> None:
    among = programs_of_torch()
    found = [
        (p, edit) for p in sampled(among, lambda p: f"{kind.name} {p.name}", 12) for edit in kind.sites(Text(p.source))
    ]
    for program, edit in found or list(cases(kind, among, 1))[:1]:
        changed = Text(program.source).with_edit(edit)
        compile(changed, program.name, "exec")
        assert changed != program.source
    assert found or any(True for _ in cases(kind, among, 1))


def test_each_value_that_is_read_goes_through_the_probe() -> None:
    source = "class A(B):\n    def f(self, x: int = 1):\n        y = self.g(x)[0]\n        return -y\n"
    seen: list[str] = []
    text = with_probes(Text(source), "probe")

    class B:
        def g(self, x: int) -> list[int]:
            return [x]

    def probe(place: tuple[int, int], value: object) -> object:
        seen.append(source[slice(*place)])
        return value

    names: dict[str, object] = {"B": B, "probe": probe}
    exec(text, names)
    assert names["A"]().f(3) == -3  # type: ignore[operator]
    assert seen == ["self", "x", "self.g(x)", "self.g(x)[0]", "y", "-y"]


@pytest.mark.parametrize(
    "kind", sampled([k for k in KINDS if k.name in NAMED], lambda k: k.name, 3), ids=lambda k: k.name
)
def test_a_fault_is_named_with_its_line(kind: Kind, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    counted = 0
    for program, edit in cases(kind, [SMALL], 1):
        changed = bench.counts(program, edit)
        if changed is not None:
            counted += 1
            said = checked(changed.path, bench.home(program))
            assert judged(kind, edit, said, changed.starved) == "named", said
            break
    assert counted, bench.plain(SMALL)


def finding(code: str, severity: str, words: str) -> dict[str, object]:
    return {"code": code, "severity": severity, "subject": "", "lines": [3], "words": words}


@pytest.mark.parametrize(
    ("told", "starved", "judgement"),
    [
        (finding("GT103", "error", "w has no gradient: detached"), True, "named"),
        (finding("GT103", "error", "w has no gradient: computed under no_grad"), True, "line"),
        (finding("GT112", "note", "1 of 2 uses of h gives no gradient back: detached"), False, "named"),
        (finding("GT112", "note", "1 of 2 uses of h gives no gradient back: detached"), True, "nothing"),
        (finding("GT111", "warning", "the term fit of the loss gives no gradient: detached"), True, "named"),
        (finding("GT203", "warning", "detached"), False, "line"),
    ],
)
def test_a_finding_names_a_fault_by_code_line_and_words(told: dict[str, object], starved: bool, judgement: str) -> None:
    [kind] = [k for k in KINDS if k.name == "detach"]
    assert judged(kind, Edit([], 3), [told], starved) == judgement
    assert judged(kind, Edit([], 4), [told], starved) == ("nothing" if judgement == "nothing" else "elsewhere")


def test_nothing_is_found_in_the_small_program(tmp_path: Path) -> None:
    said = checked(Bench(tmp_path).write("small", SMALL.source), tmp_path)
    assert [f for f in said if not isinstance(f, dict) or f["severity"] != "note"] == []
