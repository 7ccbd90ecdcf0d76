"""The JSON schema of ``gradtool.toml``, for editors; that of ``[tool.gradtool]`` is the same."""

from __future__ import annotations

import json
from typing import Any

from .settings import table

ID = "gradtool/configuration/1"


def schema() -> dict[str, Any]:
    """The schema, in JSON's types."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": ID, **table().schema()}


def text() -> str:
    """The schema as the file that is shipped."""
    return json.dumps(schema(), indent=2) + "\n"
