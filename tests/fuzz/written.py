"""Files that gradtool wrote or is set by, changed at random: rows, baselines, graphs, runs, settings, notebooks."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

from gradtool.cli import commands
from gradtool.cli.configuration import effective, settings
from gradtool.engine.answers.diff import golden
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.answers.diff.structure import difference
from gradtool.engine.core.notes import SILENT
from gradtool.engine.eager.tape import FreedGraphError, InplaceError
from gradtool.engine.files import container
from gradtool.engine.gate import baseline
from gradtool.engine.gate.finding import Finding, Severity, Spot
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.diff import Differences
from gradtool.engine.questions.sides import outline_of
from gradtool.engine.questions.why import Why
from gradtool.engine.recorders.recorded.archive import RecordedRun
from gradtool.engine.request.request import Request
from gradtool.engine.script import cells
from gradtool.engine.sweeps.at_points import AtPoints
from gradtool.engine.sweeps.summaries import KINDS
from gradtool.engine.sweeps.sweep import Swept
from gradtool.viz import views
from gradtool.viz.gate import render
from gradtool.viz.sweeps.forms import FORMS
from gradtool.viz.views import sweep
from gradtool.viz.views.view import to_json, to_lines, to_tsv
from tests.answers.diff.planted import drawn as planted

from . import mutations

ROOT = Path(__file__).parents[2]
Read = Callable[[bytes], object]

MODEL = """\
import paddle

def build(lr=1.0):
    w = paddle.create_parameter([2, 2], "float32", name="w")
    unused = paddle.create_parameter([2], "float32", name="unused")
    x = paddle.rand([2, 2])
    return (paddle.log(paddle.matmul(x, w) * float(lr) - 1.0)).mean()
"""
"""Has findings of most kinds."""


def _lines(data: bytes, draw: Random, others: Sequence[bytes]) -> bytes:
    """A file of lines of JSON: its bytes, or the values in one of its lines."""
    if draw.random() < 0.4:
        return mutations.changed_bytes(data, others, draw)
    lines = data.split(b"\n")
    at = draw.randrange(len(lines) - 1)
    lines[at] = json.dumps(mutations.changed_value(json.loads(lines[at]), draw)).encode()
    return b"\n".join(lines)


# -- rows of sweeps ---------------------------------------------------------------------------------------------------


def rows(draw: Random) -> tuple[bytes, Read]:
    """Rows of a sweep, with which it goes on."""
    every = _rows()
    question = draw.choice(sorted(every))
    return _lines(every[question], draw, [*every.values()]), lambda data: _resume(question, data)


def _asked(question: str, folder: str, file: str | None) -> Swept:
    model = os.path.join(folder, "model.py:build")
    asking = AtPoints(question=question, set=("lr=1,2",), seeds="0,1", results=file, resume=file is not None)
    return asking.ask((model,), Request(model), lambda done, total: None)


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        Path(folder, "model.py").write_text(MODEL, encoding="utf-8")
        yield folder


@cache
def _rows() -> dict[str, bytes]:
    with _folder() as folder:
        return {
            question: "".join(json.dumps(row) + "\n" for row in _asked(question, folder, None).rows).encode()
            for question in KINDS
        }


def _resume(question: str, data: bytes) -> None:
    """What is believed of a file must be shown in every form."""
    with _folder() as folder:
        file = os.path.join(folder, "rows.jsonl")
        Path(file).write_bytes(data)
        swept = _asked(question, folder, file)
        view = sweep.view(swept)
        to_lines(view)
        to_json(view.data, view.kind)
        to_tsv(view)
        for form in FORMS.values():
            form(swept)
        assert swept.complete


# -- baselines --------------------------------------------------------------------------------------------------------


def _findings() -> list[Finding]:
    spot = Spot("/repo/m.py", 3, 5, "x = y.detach()")
    found = [Finding("GT103", "detached", Severity.ERROR, "m.py", name, f"{name} is cut", spot) for name in "vw"]
    return [*found, Finding("GT901", "not-checked", Severity.NOTE, "other.py", "", "stopped")]


def baselines(draw: Random) -> tuple[bytes, Read]:
    """A baseline: its bytes, or the values in it."""
    data = _baselines()[0] if draw.random() < 0.8 else _baselines()[1]
    if draw.random() < 0.4:
        return mutations.changed_bytes(data, _baselines(), draw), _split
    return json.dumps(mutations.changed_value(json.loads(data), draw)).encode(), _split


@cache
def _baselines() -> list[bytes]:
    whole = baseline.Baseline().renew(_findings(), ["m.py", "other.py"], "/repo")
    return [whole.text().encode(), baseline.Baseline().text().encode()]


def _split(data: bytes) -> None:
    from gradtool.engine.gate.report import Report

    with _folder() as folder:
        file = os.path.join(folder, "b.json")
        Path(file).write_bytes(data)
        read = baseline.read(file)
        new, known, gone = read.split(_findings(), ["m.py"])
        for form in ("full", "json", "sarif", "junit", "tap"):
            render(Report(new, ["m.py"], [], folder, suppressed=known, gone=gone), form)
        text = read.renew(new, ["m.py"], folder).text()
        Path(file).write_text(text, encoding="utf-8")
        baseline.read(file)


# -- graphs that were kept --------------------------------------------------------------------------------------------


def graphs(draw: Random) -> tuple[bytes, Read]:
    """A golden file."""
    data = draw.choice(_graphs())
    return mutations.changed_bytes(data, _graphs(), draw), _compare


@cache
def _outlines() -> list[Outline]:
    told = []
    for name in ("word_embedding", "gradient_penalty", "eager_decoder"):
        path = str(ROOT / "samples" / f"{name}.py")
        told.append(outline_of(path, Request(path), Backward(), SILENT))
    with _folder() as folder:
        for seed, mode in ((1, "static"), (2, "eager")):
            path = os.path.join(folder, f"drawn{seed}.py")
            Path(path).write_text(planted(Random(seed)).text(mode), encoding="utf-8")
            told.append(outline_of(path, Request(path), Backward(), SILENT))
    return told


@cache
def _graphs() -> list[bytes]:
    return [golden.write(outline).encode() for outline in _outlines()]


def _compare(data: bytes) -> None:
    kept = golden.read(data, "graph.gt.txt")
    outline = _outlines()[len(data) % len(_outlines())]
    for before, after in ((kept, outline), (outline, kept)):
        found = difference(before, after)
        view = views.view_of(Differences(before, after, found, (before.title, after.title)))
        to_lines(view)
        to_json(view.data, view.kind)
    again = golden.read(golden.write(kept), "graph.gt.txt")
    assert golden.write(again) == golden.write(kept)


# -- runs of real Paddle ----------------------------------------------------------------------------------------------


def runs(draw: Random) -> tuple[bytes, Read]:
    """A run that was recorded in real Paddle: its bytes, or an event, a place or an object in it."""
    data = draw.choice(_runs())
    if draw.random() < 0.3:
        return mutations.changed_bytes(data, _runs(), draw), _play
    arrays, texts = container.read_stream(io.BytesIO(data), "run.paddlerun")
    name = draw.choice(("events", "events", "events", "frames", "left", "sources"))
    content = json.loads(texts[name])
    if isinstance(content, list) and content:
        at = draw.randrange(len(content))
        content[at] = mutations.changed_value(content[at], draw)
    else:
        content = mutations.changed_value(content, draw)
    changed = {**texts, name: json.dumps(content)}
    return b"".join(bytes(piece) for piece in container.pieces(arrays, changed)), _play


@cache
def _runs() -> list[bytes]:
    names = ("to_static", "layer_never_called", "mask_by_comparison", "target_under_no_grad_by_mistake")
    return [(ROOT / "tests/real_paddle/runs" / f"{name}.paddlerun").read_bytes() for name in names]


def _play(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".paddlerun") as file:
        file.write(data)
        file.flush()
        RecordedRun(Path(file.name), data)
        with contextlib.suppress(InplaceError, FreedGraphError):  # what the program of such a run does
            Why().ask(Request(file.name))


# -- settings ---------------------------------------------------------------------------------------------------------

SETTINGS = (
    b"""\
seed = 1
color = "never"
limit = 2.5

[check]
select = ["GT1", "GT2"]
out = ["sarif=a/b.sarif"]
cache-dir = "cache"
fail-on = "warning"
baseline = "b.json"

[why]
params = ["*.bias"]
output = "why.txt"
steps = "all"
verbose = 2

[[models]]
target = "a.py:build"
arguments = ["--epochs", "1"]
seed = 3

[[models]]
target = "b.py"
feed = "data.npz[1:3]"

[severities]
GT203 = "error"

[thresholds.GT203]
norm = 1e5

[per-file-ignores]
"legacy/*" = ["GT1"]

[[overrides]]
files = ["a.py"]
parameters = ["*.bias"]
severities.GT205 = "note"
""",
    b'[sweep]\nrows = "data.npz:8"\nresults = "r.jsonl"\njobs = 2\ntimeout = 3\nset = ["lr=1,2"]\n',
)


def configuration(draw: Random) -> tuple[bytes, Read]:
    """A file of settings, alone or in a ``pyproject.toml``."""
    return mutations.changed_bytes(draw.choice(SETTINGS), SETTINGS, draw), _settings


def _settings(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in (("gradtool.toml", data), ("pyproject.toml", b"[tool.gradtool]\n" + data)):
            Path(name).write_bytes(text)
        for name in ("gradtool.toml", "pyproject.toml"):
            read = settings.read([os.path.abspath(name)])
            for command in ("check", "why", "sweep", "self config"):
                read.command_settings(command, commands.load(command))
            json.dumps(
                [effective.files(read), effective.settings(read, ["check", "why"], True), effective.tables(read)]
            )


# -- notebooks --------------------------------------------------------------------------------------------------------


def notebooks(draw: Random) -> tuple[bytes, Read]:
    """A notebook: its bytes, or the values in it."""
    data = draw.choice(_notebooks())
    if draw.random() < 0.4:
        return mutations.changed_bytes(data, _notebooks(), draw), _cells
    return json.dumps(mutations.changed_value(json.loads(data), draw)).encode(), _cells


@cache
def _notebooks() -> list[bytes]:
    names = ("samples/missing_gradients.ipynb", "tests/scripts/forms/notebook.ipynb")
    magic = ["%time x = 1\n", "!ls\n", "%run other.py\n", "y = !pwd\n", "z = %sql select\n", "x??\n"]
    texts = [*magic, "%%writefile a.txt\nb", '%%capture\n"""\n%time\n"""', "%%bash\nls"]
    own = {
        "cells": [
            {"cell_type": "code", "source": text, "metadata": {"tags": ["raises-exception"]}, "execution_count": i}
            for i, text in enumerate(texts)
        ],
        "nbformat": 4,
    }
    return [*((ROOT / name).read_bytes() for name in names), json.dumps(own).encode()]


def _cells(data: bytes) -> None:
    """What reading lets pass is Python, or is refused as none; it is not run."""
    for cell in cells.cells(data, "book.ipynb"):
        assert isinstance(cell.may_raise, bool)
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            compile(cell.text, cell.name, "exec")


READERS = {
    "rows": rows,
    "baseline": baselines,
    "golden": graphs,
    "Paddle run": runs,
    "configuration": configuration,
    "notebook": notebooks,
}
