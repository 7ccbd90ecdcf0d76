"""``gradtool --version``: which versions are installed, of gradtool and of what it uses where that is there."""

from __future__ import annotations

import platform
from importlib import metadata

from gradtool import __version__

USED = (
    *("numpy", "jax", "jaxlib", "torch", "paddlepaddle"),
    *("distributed", "numba", "onednn-cpu-gomp", "pygraphviz", "pyarrow"),
)
"""Distributions that change what gradtool computes, reads or draws."""


def lines() -> list[str]:
    """The version of gradtool, a line for each of what is installed, and one for what is not. Nothing is imported."""
    versions = {name: _version_of(name) for name in USED}
    rows = {"python": platform.python_version(), **{n: v for n, v in versions.items() if v is not None}}
    absent = [n for n, v in versions.items() if v is None]
    width = max(map(len, rows))
    told = [f"gradtool {__version__}", *(f"{n:<{width}}  {v}" for n, v in rows.items())]
    return [*told, f"not installed: {', '.join(absent)}"] if absent else told


def _version_of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
