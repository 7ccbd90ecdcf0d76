"""The JSON schema of ``gradtool.toml``, for editors; that of ``[tool.gradtool]`` is the same."""

from __future__ import annotations

import json
from typing import Any

from gradtool.engine.files.schema import Either, ListSchema, Shape, TableSchema

from .settings import table

ID = "gradtool/configuration/1"


def schema() -> dict[str, Any]:
    """The schema, in JSON's types."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": ID, **_describe(table())}


def text() -> str:
    """The schema as the file that is shipped."""
    return json.dumps(schema(), indent=2) + "\n"


def _describe(shape: Shape) -> dict[str, Any]:
    """Return the JSON schema of a shape."""
    doc = {"description": shape.doc} if shape.doc else {}
    if isinstance(shape, ListSchema):
        return {"type": "array", "items": _describe(shape.of), **doc}
    if isinstance(shape, Either):
        return {"anyOf": [_describe(shape.first), _describe(shape.second)], **doc}
    if not isinstance(shape, TableSchema):
        return {**shape.described, **doc}
    described: dict[str, Any] = {"type": "object", **doc}
    if shape.members:
        described["properties"] = {key: _describe(member) for key, member in sorted(shape.members.items())}
    described["additionalProperties"] = False if shape.others is None else _describe(shape.others)
    if shape.needs:
        described["required"] = sorted(shape.needs)
    return described
