"""Tables of objects are by ``identity``, which is no audit event; ``id`` is left to what reads addresses."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from gradtool.engine.core.identity import identity

ROOT = Path(__file__).parents[2]
ADDRESSES = {"engine/kernels/numba/group_function.py", "engine/kernels/numba/loops.py"}
"""Files that read memory at the addresses of objects."""


def test_identities_differ_while_objects_live() -> None:
    arrays = [np.zeros(2) for _ in range(1000)]
    assert len({identity(a) for a in arrays}) == len(arrays)
    assert all(identity(a) == identity(a) and identity(a) > 0 for a in arrays)


@pytest.mark.parametrize(
    "value", [[], {}, np.zeros(2), int, "text", object(), float("nan")], ids=lambda v: type(v).__name__
)
def test_anything_has_one(value: object) -> None:
    assert identity(value) == identity(value) != identity(object)


def test_no_table_mixes_the_two_numbers() -> None:
    users = set()
    for path in (p for folder in ("engine", "viz", "cli") for p in (ROOT / folder).rglob("*.py")):
        nodes = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Name)]
        if any(n.id == "id" and isinstance(n.ctx, ast.Load) for n in nodes):
            stored = any(n.id == "id" and isinstance(n.ctx, ast.Store) for n in nodes)
            users |= set() if stored else {path.relative_to(ROOT).as_posix()}
    assert users - {"engine/paddle/distributed/_groups.py", "engine/paddle/io/_workers.py"} == ADDRESSES
