"""The heat map of a training: its cells, its marks, and that it stays legible."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gradtool.engine.answers.over_time.array_size import Extent
from gradtool.engine.answers.over_time.history import BackwardPass, History, HistoryPoint, Track, TrainingStep, Update
from gradtool.engine.kinds.about import About
from gradtool.engine.questions.over_time import OverTime, Training
from gradtool.viz.over_time.heat import svg
from gradtool.viz.over_time.ramp import LEVELS, Ramp, colours

SVG = "{http://www.w3.org/2000/svg}"


def point(norm: float, bad: int = 0, zeros: int = 0) -> HistoryPoint:
    return HistoryPoint(Extent(norm, zeros, bad, 4), 1, weight=1.0, update=0.1 * norm)


def training(rows: int, steps: int, clipped: float | None = None, norm: float = 1.0) -> Training:
    """Gradients that get smaller from row to row."""
    tracks = [Track(f"net.{i}.weight", (4,), listed=True) for i in range(rows)]
    history = History([], tracks)
    for k in range(1, steps + 1):
        points = {t: point(norm * 0.5**i) for i, t in enumerate(tracks)}
        update = Update("SGD", (), rate=0.1, clipped=clipped)
        history.steps.append(TrainingStep(k, [BackwardPass(k, (), 1.0 / k)], [update], points))
    return asked(history)


def asked(history: History) -> Training:
    return OverTime(by="parameter").training(About("train.py", "eager", ["train.py"]), history)


def parsed(answer: Training) -> ElementTree.Element:
    return ElementTree.fromstring(svg(answer))


def cells(root: ElementTree.Element) -> dict[str, str]:
    """Kind of cell -> the outline of all that are of it."""
    found = {p.get("class", ""): p.get("d", "") for p in root.iter(f"{SVG}path")}
    return {kind.removeprefix("c "): d for kind, d in found.items() if kind.startswith("c ")}


@pytest.mark.parametrize(("rows", "steps"), [(1, 1), (2, 3), (8, 40), (60, 500), (3, 5000)])
def test_every_size_is_well_formed_and_fits(rows: int, steps: int) -> None:
    root = parsed(training(rows, steps))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    assert 600 <= width <= 1400
    assert height <= 200 + 27 * rows + 80
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x", -1)) <= width
        assert 0 <= float(text.get("y", -1)) <= height
    assert len(svg(training(rows, steps))) < 400_000


def test_the_same_training_gives_the_same_text() -> None:
    assert svg(training(3, 9)) == svg(training(3, 9))


def test_a_cell_is_as_bright_as_its_gradient_is_large() -> None:
    levels = sorted(int(kind[1:]) for kind in cells(parsed(training(4, 2))))
    assert len(levels) == 4
    assert levels[0] < levels[-1]
    sums = [sum(int(c[i : i + 2], 16) for i in (1, 3, 5)) for c in colours()]
    assert sums == sorted(sums)
    assert len(set(colours())) == LEVELS


def test_zeros_gaps_and_what_is_not_finite_look_different_and_the_first_is_marked() -> None:
    answer = training(3, 6)
    a, b, c = answer.parameters
    for step in answer.history.steps[2:]:
        step.points[a] = point(math.nan, bad=4)
        step.points[b] = point(0.0, zeros=4)
        del step.points[c]
    root = parsed(asked(answer.history))
    kinds = cells(root)
    assert kinds["x"].count("M") == kinds["z"].count("M") == 4
    assert sum(d.count("M") for d in kinds.values()) == 14
    births = [p for p in root.iter(f"{SVG}path") if p.get("class") == "birth"]
    assert len(births) == 2  # one of them in the legend
    text = "".join(root.itertext())
    assert "first NaN or infinity in net.0.weight" in text
    assert "all zero from here on: net.1.weight" in text
    assert "no gradient any more: net.2.weight" in text


def test_a_column_of_several_steps_hides_nothing_that_is_not_finite() -> None:
    answer = training(2, 1000)
    answer.history.steps[700].points[answer.parameters[0]] = point(1.0, bad=1)
    root = parsed(asked(answer.history))
    assert cells(root)["x"].count("M") == 1
    assert "a column is 4 steps" in "".join(root.itertext())


def test_cells_that_do_not_stand_apart_meet() -> None:
    answer = training(1, 300)
    for i, step in enumerate(answer.history.steps):
        step.points[answer.parameters[0]] = point(1.0 if i % 2 else 100.0)
    ends: dict[float, float] = {}
    for d in cells(parsed(asked(answer.history))).values():
        for x, w in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)", d):
            ends[float(x)] = round(float(x) + float(w), 1)
    starts = sorted(ends)
    assert [ends[x] for x in starts[:-1]] == starts[1:]


def test_clipping_has_a_bar_where_something_was_cut_off() -> None:
    bars = [p.get("d", "") for p in parsed(training(1, 5, clipped=0.5)).iter(f"{SVG}path") if p.get("class") == "clip"]
    assert bars[0].count("M") == 5
    none = [p.get("d", "") for p in parsed(training(1, 5, clipped=1.0)).iter(f"{SVG}path") if p.get("class") == "clip"]
    assert none == [""]
    assert not [p for p in parsed(training(1, 5)).iter(f"{SVG}path") if p.get("class") == "clip"]


def test_names_are_text_and_no_markup() -> None:
    answer = training(1, 2)
    answer.parameters[0].name = "<b>&\x1b"
    assert "<b>&\\x1b" in "".join(parsed(asked(answer.history)).itertext())


def test_a_ramp_covers_whole_decades() -> None:
    ramp = Ramp.span([0.0, 3e-3, 20.0, math.nan])
    assert (ramp.low, ramp.high) == (-3, 2)
    assert ramp.level(1e-9) == 0
    assert ramp.level(1e9) == LEVELS - 1
    assert Ramp.span([]) == Ramp(-1, 0)
    assert Ramp.span([1e-30, 1.0]).low == -12


def test_the_report_on_a_training_has_it(tmp_path: Path) -> None:
    import gradtool

    file = tmp_path / "train.py"
    file.write_text(
        "import paddle\nw = paddle.create_parameter([2], 'float32')\n"
        "opt = paddle.optimizer.SGD(0.1, parameters=[w])\n"
        "for _ in range(3):\n    loss = (w * w).sum()\n    loss.backward()\n    opt.step()\n    opt.clear_grad()\n",
        encoding="utf-8",
    )
    report = gradtool.report(str(file), html=tmp_path / "r.html", md=tmp_path / "r.md")
    assert "3 steps" in str(report["over_time"])
    assert "Norms of gradients: 1 parameter by 3 steps." in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "## Over time" in (tmp_path / "r.md").read_text(encoding="utf-8")
    single = tmp_path / "model.py"
    single.write_text(
        "import paddle\nw = paddle.create_parameter([2], 'float32')\nloss = (w * w).sum()\n", encoding="utf-8"
    )
    assert "over_time" not in [s.name for s in gradtool.report(str(single)).sections]
