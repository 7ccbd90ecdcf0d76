"""The public names of ``gradtool`` with their signatures, as ``docs/reference/python.md`` lists them.

``python -m tests.docs.python_names`` writes the list anew.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import gradtool
from gradtool.engine.questions import QUESTIONS, question_class

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
BEGIN, END = "<!-- names: python -m tests.docs.python_names -->\n", "<!-- names end -->\n"
MODULES = {"paddle": "Paddle's public names.", "testing": "Claims about gradients, for tests."}
MOST = 100
"""Characters of a signature on one line."""


def text() -> str:
    """Return the list, in Markdown."""
    lines = ["## Names of gradtool", ""]
    for name in sorted(gradtool.__all__):
        lines += _entry(name)
    lines += ["## Methods of a model", "", "What `gradtool.load` returns. The file runs again for each answer.", ""]
    for method in sorted(QUESTIONS):
        function = getattr(gradtool.Model, method)
        lines += [f"### model.{method}", "", _code(f"model.{method}", _words(method, function)), "", _doc(function), ""]
    return "\n".join(lines)


def _entry(name: str) -> Iterator[str]:
    thing = getattr(gradtool, name)
    yield from (f"### gradtool.{name}", "")
    if name in MODULES:
        yield from (MODULES[name], "")
        return
    if not inspect.isclass(thing):
        yield from (_code(f"gradtool.{name}", _signature(inspect.signature(thing))), "")
    yield from (_doc(thing), "")


def _doc(thing: Any) -> str:
    """Return the first sentence of a docstring, without the roles of Sphinx."""
    first = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", re.sub(r"``", "`", " ".join(first.split())))


def _signature(signature: inspect.Signature) -> list[str]:
    """Return the parameters of a function, annotations without quotes; its result behind ``->`` at the end."""
    shown = [re.sub(r": '([^']*)'", r": \1", str(p)) for p in signature.parameters.values()]
    kinds = [p.kind for p in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return [*shown, f"-> {signature.return_annotation}"]


def _words(method: str, function: Any) -> list[str]:
    """Return the parameters of a method of models: its own, and the fields of its question."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.name not in ("self", "words")]
    shown = [re.sub(r": '([^']*)'", r": \1", str(p)) for p in own]
    if not any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in own):
        shown.append("*")
    for each in fields(question_class(method)):
        if each.name not in {p.name for p in own}:
            default = "" if each.default is MISSING else f" = {each.default!r}"
            shown.append(f"{each.name}: {each.type}{default}")
    return [*(shown if shown[-1] != "*" else shown[:-1]), f"-> {signature.return_annotation}"]


def _code(name: str, parts: list[str]) -> str:
    """Return a signature as a block of code, on one line where there is room."""
    *parameters, result = parts
    line = f"{name}({', '.join(parameters)}) {result}"
    if len(line) > MOST:
        line = "\n".join([f"{name}(", *(f"    {each}," for each in parameters), f") {result}"])
    return f"```text\n{line}\n```"


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + text() + END + rest.partition(END)[2], encoding="utf-8")
