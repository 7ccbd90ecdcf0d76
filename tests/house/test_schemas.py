"""The schemas are the kinds of JSON that gradtool writes: a file each, beside what writes it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
SOURCES = [f for top in ("engine", "viz", "cli") for f in sorted((ROOT / top).rglob("*.py"))]
SCHEMAS = {f.stem: f for top in ("engine", "viz", "cli") for f in sorted((ROOT / top).rglob("schemas/*.json"))}
NO_JSON = {"state"}
"""Formats of binary files, whose readers are their description."""


def kinds(source: str) -> Iterator[str]:
    """What a module writes: ``"gradtool/KIND/1"``, ``View("KIND", …)``, ``to_json(…, "KIND")``, ``KIND = "KIND"``."""
    if not any(word in source for word in ("gradtool/", "View(", "to_json(", "KIND =")):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=str(text)) if whole := re.fullmatch(r"gradtool/([\w-]+)/\d+", text):
                yield whole[1]
            case ast.Call(func=ast.Name(id="View"), args=[ast.Constant(value=str(kind)), *_]):
                yield kind
            case ast.Call(func=ast.Name(id="to_json"), args=[_, ast.Constant(value=str(kind))]):
                yield kind
            case ast.Assign(targets=[ast.Name(id="KIND")], value=ast.Constant(value=str(kind))):
                yield kind


def schema(kind: str) -> dict[str, Any]:
    """The schema of a kind."""
    told: dict[str, Any] = json.loads(SCHEMAS[kind].read_text(encoding="utf-8"))
    return told


def test_the_schemas_are_the_kinds_that_are_written() -> None:
    written = {kind for file in SOURCES for kind in kinds(file.read_text(encoding="utf-8"))}
    assert set(SCHEMAS) == written - NO_JSON
    assert written >= NO_JSON


def test_a_kind_without_a_schema_is_seen() -> None:
    assert [*kinds('View("novelty", {}, [])')] == ["novelty"]
    assert [*kinds('to_json(data, "novelty")')] == ["novelty"]
    assert [*kinds('FORMAT = "gradtool/novelty/1"')] == ["novelty"]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_is_one_and_says_what_it_describes(kind: str) -> None:
    Draft202012Validator.check_schema(schema(kind))
    assert re.fullmatch(rf"gradtool/{kind}/\d+", schema(kind).get("$id") or schema(kind)["title"])
