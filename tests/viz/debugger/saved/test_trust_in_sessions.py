"""A saved session is data: nothing that stands in it is evaluated unless the file is trusted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gradtool.viz.debugger import scope, verbs
from gradtool.viz.debugger.errors import NotTrusted
from gradtool.viz.debugger.saved import comparison, expressions, reader, writer
from gradtool.viz.debugger.verbs import Verb
from tests import processes
from tests.sampling import sampled
from tests.viz.debugger.frontend_runs import book_over, hunt, recorded

EVIL = "np.zeros(1).tofile('ran')"
MODEL = "import posix\nposix.mkdir('ran')\n"
"""A file that may not be run; past the overlay, which would hide that it was."""
VERBS = [v for v in verbs.table().values() if v.name != "note"]


def lines_of(verb: Verb) -> list[str]:
    """The verb with an expression in every place where one may stand, and where none may."""
    words = verb.name
    return [
        *(f"{words} {EVIL}", f"{words} x@GRAD = {EVIL}", f"{words} v['h'][{EVIL}]", f"{words} h[{EVIL}]"),
        *(f"{words} op:relu_grad if {EVIL}", f"{words} nan if {EVIL}", f"{words} set h = {EVIL}", f"{words} 1 {EVIL}"),
        f"{words} {EVIL} -o ran.svg",
    ]


PYTHON = [EVIL, f"!{EVIL}", f"x = {EVIL}", f"x = 1\n{EVIL}", f"if True:\n    {EVIL}\n", f"v[{EVIL}]"]


def saved_with(cells: list[str], stops: list[dict[str, Any]] | None = None) -> str:
    """A session on which somebody has worked by hand: these are its cells, and its stops from the beginning."""
    book = book_over(recorded(hunt))
    book.execute("list")
    lines = [json.loads(line) for line in writer.text(book).splitlines()]
    (cell,) = [x for x in lines if x.get("kind") == "cell"]
    (session,) = [x for x in lines if x.get("kind") == "session"]
    session["stops"] = session["began"]["stops"] = stops or []
    lines = [x for x in lines if x.get("kind") not in ("cell", "end")]
    lines += [{**cell, "number": i, "source": text} for i, text in enumerate(cells, 1)]
    lines.append({"kind": "end", "lines": len(lines) + 1})
    return "".join(json.dumps(line) + "\n" for line in lines)


def stop(kind: str, text: str, condition: str = "") -> dict[str, Any]:
    told = {"number": 1, "kind": kind, "text": text, "condition": condition}
    return {**told, "once": False, "enabled": True, "hits": 0}


STOPS = [
    stop("watch", EVIL),
    stop("break", "op:relu_grad", EVIL),
    stop("catch", "nan", EVIL),
]
MOVES = ["continue", "rcontinue", "next", "rnext", "until relu_grad.0", "step", "back", "finish", "goto %1"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def untouched(folder: Path) -> bool:
    return list(folder.iterdir()) == []


@pytest.mark.parametrize("name", [v.name for v in VERBS])
def test_no_verb_of_a_file_evaluates(here: Path, name: str) -> None:
    verb = verbs.table()[name]
    book = reader.load(saved_with(lines_of(verb)), "s.jsonl").book
    for number in range(1, len(book.cells) + 1):
        cell, _ = book.execute(f"rerun {number}")
        assert untouched(here), cell.source
        for move in ("finish", "rcontinue", "continue"):  # stops that the cell may have set
            book.execute(move)
        assert untouched(here), cell.source


@pytest.mark.parametrize("source", PYTHON)
def test_no_python_of_a_file_is_run(here: Path, source: str) -> None:
    saved = reader.load(saved_with([source]), "s.jsonl")
    _, reply = saved.book.execute("rerun 1")
    assert isinstance(reply.error, NotTrusted)
    assert "--trust" in reply.text
    assert comparison.check(saved).refused == saved.book.cells[0]
    assert expressions.cell_expressions(saved.book) == [f"In [1]: {source}"]
    assert untouched(here)
    reader.load(saved_with([source]), "s.jsonl", trust=True).book.execute("rerun 1")
    assert source.startswith("v[") or not untouched(here)


@pytest.mark.parametrize("told", STOPS, ids=lambda s: s["kind"])
def test_no_stop_of_a_file_evaluates(here: Path, told: dict[str, Any]) -> None:
    saved = reader.load(saved_with(["continue"], [told]), "s.jsonl")
    assert expressions.stop_expressions(saved.book)
    for again in ([], ["enable 1"]):
        for line in [*again, *MOVES]:
            saved.book.execute(line)
    comparison.check(saved)
    assert untouched(here)
    reader.load(saved_with([], [told]), "s.jsonl", trust=True).book.execute("continue")
    assert not untouched(here)


def test_what_is_typed_is_evaluated(here: Path) -> None:
    book = reader.load(saved_with(["p h"]), "s.jsonl").book
    book.execute(EVIL)
    assert not untouched(here)
    assert book.execute("watch v['h'].sum()")[1].error is None
    assert book.execute("continue")[1].error is None


def test_moves_and_recorded_values_are_replayed_without_trust() -> None:
    book = book_over(recorded(hunt))
    for line in (
        "catch nan",
        "c",
        "back 2",
        "p h",
        "p h[0]",
        "stats",
        "x h",
        "zero h",
        "undo",
        "list",
        "note *so*",
    ):
        assert not book.execute(line)[1].error
    replay = comparison.check(reader.load(writer.text(book), "s.jsonl"))
    assert (replay.difference, replay.refused) == (None, None)


def test_verbs_say_that_they_evaluate(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown before somebody trusts a file is all that would be evaluated."""
    asked: list[str] = []
    monkeypatch.setattr(scope, "evaluate", lambda session, text, entry: asked.append(text))
    monkeypatch.setattr(scope, "run", lambda session, text: (asked.append(text), False))
    book = book_over(recorded(hunt))
    for verb in VERBS:
        for line in lines_of(verb):
            asked.clear()
            book.execute(line)
            split = verbs.split(line)
            if any(EVIL in text for text in asked):
                assert split is None or verb.evaluates(split[1]), line


def gradtool(*words: str, typed: str = "") -> tuple[int, str, str]:
    code = "import sys; from gradtool.cli.main import main; main(sys.argv[1:])"
    done = processes.run([sys.executable, "-c", code, *words], given=typed)
    return done.returncode, done.stdout, done.stderr


def test_the_command_evaluates_with_trust_only(here: Path) -> None:
    (here / "s.jsonl").write_text(saved_with(["list", f"p {EVIL}"], [stop("watch", EVIL)]))
    (here / "model.py").write_text(MODEL)
    code, out, err = gradtool("debug", "--replay", "s.jsonl", "--check")
    assert (code, out) == (2, "")
    assert err.startswith("error: 1 of 2 cells as saved; from In [2] on they are not run")

    assert f"watch 1: {EVIL} · In [2]: p {EVIL}" in err
    assert "hint  if that may run: --replay FILE --check --trust" in err
    code, out, err = gradtool("debug", "--replay", "s.jsonl", typed="c\nrerun 2\np h\n")
    assert code == 0
    assert f"disabled, as the file is not trusted (--trust evaluates them): watch 1: {EVIL}" in err
    assert f"not evaluated: {EVIL} stands in the saved session" in out
    assert not (here / "ran").exists()
    assert gradtool("debug", "--replay", "s.jsonl", "--trust", typed="rerun 2\n")[0] == 0
    assert (here / "ran").exists()
    assert gradtool("debug", "model.py", "--trust")[0] == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", ["m.py '", "n" * 10_000, "In[" + "n" * 10_000, "n\0", "evil.py --watch x"])
def test_the_model_that_a_file_names_is_not_looked_for(here: Path, model: str) -> None:
    lines = saved_with(["list"]).replace('"model": "model.py"', f'"model": {json.dumps(model)}')
    assert json.dumps(model) in lines
    (here / "s.jsonl").write_text(lines)
    (here / "evil.py").write_text(MODEL)
    (here / "m.py").write_text("import paddle\nloss = (paddle.to_tensor([1.0], stop_gradient=False) * 2).sum()\n")
    lines_of_words = (
        ["debug", "--replay", "s.jsonl"],
        ["report", "m.py", "--session", "s.jsonl", "--ipynb", "r.ipynb"],
    )
    for words in sampled(lines_of_words, lambda words: f"{words[0]} {model}", one_in=4):
        code, _, err = gradtool(*words, typed="export html s.html\nexport ipynb s.ipynb\n")
        assert code in ((0,) if words[0] == "debug" else (0, 2)), err
    assert not (here / "ran").exists()
