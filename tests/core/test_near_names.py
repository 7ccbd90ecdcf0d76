"""Near names: the right ones, at a cost that neither the number nor the length of names drives up."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gradtool.engine.core import near_names
from gradtool.engine.core.near_names import COMPARED, LONGEST, find_near, shorten

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "names", "closest"),
    [
        ("fc_0.w", ["x", "fc_0.w_0", "fc_0.b_0"], ["fc_0.w_0", "fc_0.b_0"]),
        ("RELU", ["relu", "tanh"], ["relu"]),
        ("w_0", ["encoder.layers.0.attention.w_0", "other"], ["encoder.layers.0.attention.w_0"]),
        ("nothing like it", ["x", "y"], []),
    ],
)
def test_what_is_near(name: str, names: list[str], closest: list[str]) -> None:
    assert find_near(name, names) == closest


@pytest.mark.parametrize("count", [COMPARED - 1, 4000, 20_000])
@pytest.mark.parametrize("length", [8, 2000])
def test_the_nearest_of_many_is_among_the_few_that_are_compared(count: int, length: int) -> None:
    names = [f"block.{i}." + "m" * length + f".w_{i}" for i in range(count)]
    assert find_near("block.17." + "m" * length + ".W_17", names)[0] == names[17]


class _Matcher(near_names.SequenceMatcher[str]):
    lengths: ClassVar[list[int]] = []

    def set_seq1(self, a: Sequence[str]) -> None:
        self.lengths.append(len(a))
        super().set_seq1(a)

    def set_seq2(self, b: Sequence[str]) -> None:
        self.lengths.append(len(b))
        super().set_seq2(b)


@pytest.mark.parametrize("alike", [True, False])
def test_the_work_is_bounded(monkeypatch: pytest.MonkeyPatch, alike: bool) -> None:
    lengths: list[int] = []
    monkeypatch.setattr(_Matcher, "lengths", lengths)
    monkeypatch.setattr(near_names, "SequenceMatcher", _Matcher)
    middle = "ab" * 1000
    find_near("x" + middle, [f"{i}" + (middle if alike else middle[::-1]) for i in range(4000)])
    assert 0 < len(lengths) <= COMPARED + 3  # a matcher begins with two empty texts
    assert max(lengths) <= LONGEST


def test_no_other_code_compares_names() -> None:
    """Whoever imports difflib looks for near names in a way of its own, or compares texts line by line."""
    importers = []
    for file in sorted(p for folder in ("engine", "viz", "cli") for p in (ROOT / folder).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        modules: list[Any] = []
        for node in ast.walk(ast.parse(text)) if "difflib" in text else ():
            modules += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) else []
        if "difflib" in modules:
            importers.append(file.relative_to(ROOT).as_posix())
    assert importers == ["engine/core/near_names.py", "viz/debugger/saved/comparison.py"]


def test_messages_name_long_names_by_their_ends() -> None:
    long = "a" * 5000 + "z" * 5000
    assert shorten("w_0") == "w_0"
    assert len(shorten(long)) == LONGEST
    assert shorten(long).startswith("aaa")
    assert shorten(long).endswith("zzz")
