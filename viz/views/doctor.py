"""View of an installation: versions, programs, backends."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata, util
from typing import Any

from gradtool import __version__
from gradtool.engine.core.errors import BackendError
from gradtool.engine.core.wording import NOTHING
from gradtool.engine.kernels import threads
from gradtool.engine.kernels.choice import available, backend, current

from .view import Table, View

_BACKENDS = {
    "numpy": "NumPy, the reference",
    "onednn": "convolutions of oneDNN",
    "numba": "NumPy with its elementwise parts compiled",
    "jax": "programs compiled by XLA, for CPUs, GPUs and TPUs",
}
"""Remarks."""


def view(verbose: bool = False) -> View:
    """The answer of ``gradtool self version``; with the paths of programs if *verbose*."""
    versions: dict[str, str | None] = {"gradtool": __version__, "python": platform.python_version()}
    for package in ("numpy", "ml_dtypes", "click", "rich", "graphviz", "nbformat"):
        versions[package] = _version(package)
    missing = [name for name, version in versions.items() if not version]
    path = shutil.which("dot")
    dot = _dot_version(path)
    backends = {name: _backend(name) for name in available()}
    computes = {"backend": current().name, "why": current().why}
    data: dict[str, Any] = {"versions": versions, "dot": dot, "backends": backends, "computes": computes}
    data["threads"] = threads.current_count()
    data["platform"] = platform.system()
    table = Table(["part", "found", "remark"], [*_rows(versions, dot, backends)], order=("remark…",))
    table.rows.append(["computes", computes["backend"], computes["why"]])
    table.rows.append(
        ["threads", str(data["threads"]), "matrix products, convolutions and large compiled groups; --threads"]
    )
    if verbose:
        table.rows += [["python executable", sys.executable, ""], ["dot executable", path or NOTHING, ""]]
        data["paths"] = {"python": sys.executable, "dot": path}
    last = f"missing: {', '.join(missing)}" if missing else "everything that gradtool needs is here"
    return View("doctor", data, [table, last], ["gradtool backward MODEL"])


def _rows(versions: Mapping[str, str | None], dot: str | None, backends: Mapping[str, str]) -> Iterator[Sequence[str]]:
    for name, version in versions.items():
        yield [name, version or NOTHING, "" if version else f"missing: pip install {name}"]
    yield ["dot", dot or NOTHING, "" if dot else _advise_on_dot()]
    for name, state in backends.items():
        yield [f"backend {name}", state, _BACKENDS.get(name, "")]


def _advise_on_dot() -> str:
    library = _version("pygraphviz")
    if library:
        return f"not found: pygraphviz draws, {library}"
    return "not found: DOT files are written all the same; installing Graphviz draws them"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _dot_version(path: str | None) -> str | None:
    """Return the version in ``dot -V``, such as ``2.42.2``."""
    if path is None:
        return None
    try:
        said = subprocess.run([path, "-V"], capture_output=True, text=True, timeout=10).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    words = said.split()
    return next((w for w in words if w[:1].isdigit()), said.strip() or None)


def _backend(name: str) -> str:
    try:
        backend(name)
    except BackendError:
        return "installed, not usable in this version" if util.find_spec(name) else "not installed"
    return "ready"
