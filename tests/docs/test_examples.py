"""Examples in docstrings name what there is: a function that got another name has it there, too."""

from __future__ import annotations

import ast
import builtins
import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARSER = doctest.DocTestParser()


def find_examples(tree: ast.Module) -> dict[str, str]:
    """Return the code of the examples, by what they are of."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            code = "".join(e.source for e in PARSER.get_examples(ast.get_docstring(node) or ""))
            if code:
                found[node.name] = code
    return found


def names_of(tree: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}


def names_given(tree: ast.AST) -> set[str]:
    """Return the names that code gives to values, functions, classes, modules and arguments."""
    given = names_of(tree, ast.Store)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            given.add(node.name)
        elif isinstance(node, ast.arg):
            given.add(node.arg)
        elif isinstance(node, ast.alias):
            given.add((node.asname or node.name).partition(".")[0])
    return given


FILES = [p for part in ("core", "files", "ops", "answers") for p in sorted((ROOT / "engine" / part).rglob("*.py"))]
FILES += [*sorted((ROOT / "viz").rglob("*.py")), *sorted((ROOT / "cli").rglob("*.py"))]


@pytest.mark.parametrize("part", ["engine", "viz", "cli"])
def test_examples_name_what_there_is(part: str) -> None:
    unknown, seen = [], 0
    for path in FILES:
        text = path.read_text("utf-8")
        if path.relative_to(ROOT).parts[0] != part or ">>> " not in text:
            continue
        tree = ast.parse(text)
        there = names_given(tree) | {*vars(builtins)}
        for name, code in find_examples(tree).items():
            example, seen = ast.parse(code), seen + 1
            missing = names_of(example, ast.Load) - names_given(example) - there
            unknown += [f"{path.relative_to(ROOT)}: {name}: {n}" for n in sorted(missing)]
    assert not unknown
    assert seen or part == "cli"  # the command line has its examples on pages
