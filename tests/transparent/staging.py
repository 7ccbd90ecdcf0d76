"""The scripts that are run, and copies of them that record what they do."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROBE = "transparent_probe"
KINDS = ("torch", "paddle")

_FOLDERS = (
    *("tests/torch/corpus", "tests/torch/training", "tests/reports/scripts"),
    *("tests/corpus", "tests/scripts", "tests/gallery", "samples", "tests/zoo/models"),
)
_NO_SCRIPTS = ("__init__.py", "conftest.py")


@dataclass(frozen=True)
class Script:
    """A script that is run.

    Attributes:
        name: its path in the repository.
        kind: one of :data:`KINDS`.
    """

    name: str
    kind: str
    path: Path

    @property
    def has_entry(self) -> bool:
        """Whether the file has a function that gradtool calls by itself."""
        return any(line.startswith(("def build(", "def model(")) for line in self.path.read_text("utf-8").splitlines())


def kind_of(text: str) -> str | None:
    """Return the framework that a script imports; None of a file that imports none."""
    packages: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            packages.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    if "paddle" in packages:
        return "paddle"
    return "torch" if "torch" in packages else None


def scripts(kinds: Sequence[str] = KINDS) -> list[Script]:
    """Return every script of corpora, samples, gallery, zoo and reports, sorted by name."""
    found = []
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.name in _NO_SCRIPTS or path.name.startswith("test_"):
                continue
            kind = kind_of(path.read_text("utf-8"))
            if kind in kinds:
                found.append(Script(str(path.relative_to(ROOT)), str(kind), path))
    return found


def spread(found: Sequence[Script], most: int) -> list[Script]:
    """Return *most* scripts, spread evenly over all of them."""
    if most >= len(found):
        return list(found)
    return [found[i * len(found) // most] for i in range(most)]


def stage(script: Script, folder: Path) -> Path:
    """Copy a script and the data next to it into an empty *folder*, and have it record what it does."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in script.path.parent.iterdir():
        if path.is_dir() and path.name == "data":
            shutil.copytree(path, folder / path.name)
    for path in _siblings(script):
        shutil.copy(path, folder / path.name)
    shutil.copy(HERE / "probe.py", folder / f"{PROBE}.py")
    copy = folder / script.path.name
    copy.write_text(recorded(script.path.read_text("utf-8")), "utf-8")
    return copy


def _siblings(script: Script) -> Iterator[Path]:
    """Return the modules next to a script that it imports."""
    for node in ast.walk(ast.parse(script.path.read_text("utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            path = script.path.parent / f"{name.partition('.')[0]}.py"
            if path.is_file() and path != script.path:
                yield path


def recorded(text: str) -> str:
    """Return the text of a script with calls of the probe; no line moves.

    The first call stands before the first simple statement that a module may begin with, on the same line.
    """
    lines = text.splitlines(keepends=True)
    at = next((s for s in ast.parse(text).body if _may_follow(s)), None)
    call = f'__import__("{PROBE}").watch(globals()); '
    if at is not None:
        lines[at.lineno - 1] = call + lines[at.lineno - 1]
    end = "" if not lines or lines[-1].endswith("\n") else "\n"
    return "".join(lines) + f'{end}__import__("{PROBE}").reached()\n'


def _may_follow(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return False
    return not hasattr(statement, "body") and not hasattr(statement, "cases")


def digest(folder: Path) -> dict[str, str]:
    """Return what the files of a folder hold; caches of Python's do not count."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found[str(path.relative_to(folder)).replace(os.sep, "/")] = hashlib.sha1(path.read_bytes()).hexdigest()
    return found
