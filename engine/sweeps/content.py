"""Contents that answers depend on: versions, the model's own files, data. Two sides that differ in it must not
be mixed.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import gradtool

from ..core.command_errors import CommandError
from ..kernels import choice
from ..loading import targets


def versions() -> dict[str, str]:
    """The versions that decide what an answer is, and what computes it."""
    import numpy

    return {
        "gradtool": gradtool.__version__,
        "numpy": numpy.__version__,
        "backend": choice.current().name,
        "engine": _engine(),
    }


@cache
def _engine() -> str:
    """Return a digest of gradtool's own files: two sources of one version number are not the same gradtool."""
    digest = hashlib.sha256()
    for folder in gradtool.__path__:
        for file in sorted(_sources(folder)):
            digest.update(os.fsencode(os.path.relpath(file, folder)) + b"\0" + _bytes(file) + b"\0")
    return digest.hexdigest()[:16]


def _sources(folder: str) -> Iterator[str]:
    for where, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (os.path.join(where, name) for name in files if name.endswith(".py"))


def _bytes(file: str) -> bytes:
    with open(file, "rb") as stream:
        return stream.read()


def digest_model(model: str) -> str:
    """Return the digest of a model's file, and the modules in its folder that it imports.

    Raises:
        CommandError: there is no such model, or it is on standard input.
    """
    if model.partition(":")[0] == "-":
        raise CommandError("a sweep reads its model many times, and standard input can be read once", "use a file")
    target = targets.target(model)
    digest = hashlib.sha256()
    waiting, seen = [target.file], {target.file}
    while waiting:
        data = _bytes(waiting.pop(0))
        digest.update(hashlib.sha256(data).digest())
        for file in sorted(_find_imports(data, target.folder)):
            if file not in seen:
                seen.add(file)
                waiting.append(file)
    return digest.hexdigest()[:16]


def _find_imports(data: bytes, folder: str | None) -> Iterator[str]:
    """The files in *folder* that a source imports, as far as its text says."""
    if folder is None:
        return
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # what it is instead is said when it is loaded
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module or ''}.{a.name}".strip(".") for a in node.names)]
        for name in filter(None, names):
            yield from _files(folder, name.split("."))


def _files(folder: str, parts: list[str]) -> Iterator[str]:
    for end in range(1, len(parts) + 1):
        stem = os.path.join(folder, *parts[:end])
        for file in (f"{stem}.py", os.path.join(stem, "__init__.py")):
            if os.path.isfile(file):
                yield file


def must_agree(client: Mapping[str, Any], worker: Mapping[str, Any], where: str) -> None:
    """Raise :class:`CommandError` for the first thing in which two sides differ.

    Args:
        where: which worker it is.
    """
    for name, expected in client.items():
        came = worker.get(name)
        if came != expected:
            what = "gradtool's own files" if name == "engine" else name
            raise CommandError(
                f"{what}: {expected} here, and {came or 'none'} at {where}",
                "the workers need the same gradtool, NumPy and model files as this machine",
            )
