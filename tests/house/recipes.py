"""The recipes of CONTRIBUTING.md, followed to the letter in a copy of the installed package.

A recipe is a section ``### …`` under "Recipes". The first line of each of its Python blocks says what becomes of it:

- ``# viz/render/edges.py``: the block is that file.
- ``# viz/forms.py, in FORMS``: the rest stands at the end of that table.
- ``# engine/paddle/_names.py, at its end``: the rest is added to that file.
- ``# engine/answers/why/verdicts.py, after OVERWRITTEN``: the rest follows the assignment to that name.

Its ``sh`` blocks hold commands, which are run there. Other blocks show and do nothing.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"


def recipes() -> dict[str, str]:
    """The sections under "Recipes", by their headings."""
    _, _, rest = GUIDE.read_text(encoding="utf-8").partition("\n## Recipes\n")
    sections = rest.partition("\n## ")[0].split("\n### ")[1:]
    return {head.strip(): body for head, _, body in (s.partition("\n") for s in sections)}


@dataclass(frozen=True)
class Copy:
    """A copy of the installed package, and what is done with it."""

    folder: Path

    def path(self, name: str) -> Path:
        """Where a file of the repository stands in the copy."""
        inside = (
            name.removeprefix("engine/") if name.startswith("engine/paddle/") else name.removeprefix("engine/tool/")
        )
        return self.folder / "gradtool" / inside

    def follow(self, heading: str) -> None:
        """Do what a recipe says."""
        for language, text in re.findall(r"```(python|sh)\n(.*?)```", recipes()[heading], re.DOTALL):
            if language == "sh":
                for line in text.splitlines():
                    self.run(*shlex.split(line))
                continue
            place, _, rest = text.partition("\n")
            match = re.fullmatch(r"# (\S+?\.py)(?:, (?:in (\w+)|(at its end)|after (\w+)))?", place)
            assert match, f"the first line of a block says where it stands, but it is {place!r}"
            if match[4] is not None:
                self.insert(match[1], rest, match[4])
                continue
            self.write(match[1], text if match[2] is match[3] is None else rest, match[2])

    def insert(self, name: str, text: str, after: str) -> None:
        """Insert *text* below the assignment to *after*."""
        path = self.path(name)
        before = path.read_text(encoding="utf-8")
        (end,) = (
            node.end_lineno
            for node in ast.walk(ast.parse(before))
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == after
        )
        assert end is not None
        lines = before.splitlines(keepends=True)
        path.write_text("".join([*lines[:end], text, *lines[end:]]), encoding="utf-8")

    def contents(self) -> dict[str, bytes]:
        """Return the files of the package by name, byte code apart."""
        files = (p for p in (self.folder / "gradtool").rglob("*") if p.is_file() and p.suffix != ".pyc")
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in files}

    def write(self, name: str, text: str, table: str | None = None) -> None:
        """A file, more of a file that is there, or more rows of a table in it."""
        path = self.path(name)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if table is not None:
            head, close, tail = re.split(rf"^({table}\b.*?)(?=^[)\]}}])", before, maxsplit=1, flags=re.DOTALL | re.M)
            path.write_text(head + close + text + tail, encoding="utf-8")
            return
        path.write_text(before + text, encoding="utf-8")

    def run(self, *words: str) -> str:
        """What a command prints, which must succeed; ``python`` and ``gradtool`` are those of the copy."""
        python = [sys.executable, "-W", "error"]
        start = {"python": python, "gradtool": [*python, "-m", "gradtool"]}[words[0]]
        paths = os.pathsep.join([str(self.folder), str(ROOT)])
        done = subprocess.run(
            [*start, *words[1:]],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
        return done.stdout
