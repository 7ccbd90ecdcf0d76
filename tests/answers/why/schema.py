"""The verdicts in the schema of ``gradtool why``; ``python -m tests.answers.why.schema`` writes them anew."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from gradtool import cli
from gradtool.engine.answers.why.verdicts import Verdict

SCHEMA = Path(cli.__path__[0]) / "schemas" / "why.json"
_LISTED = re.compile(r'("verdict": \{\n +"enum": \[\n).*?(\n +\])', re.DOTALL)


def written(text: str) -> str:
    """Return the text of the schema with all verdicts, in the order of their rows."""
    names = ", ".join(f'"{verdict.name.lower()}"' for verdict in Verdict)
    lines = textwrap.indent(textwrap.fill(names, 106), " " * 14)
    return _LISTED.sub(lambda match: match[1] + lines + match[2], text, count=1)


if __name__ == "__main__":
    SCHEMA.write_text(written(SCHEMA.read_text(encoding="utf-8")), encoding="utf-8")
