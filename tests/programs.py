"""What tests need beside this package: programs of the system, and packages of Python.

A test whose program is missing is skipped, and the end of the run says which package brings it. A package of Python
that is missing ends the run before it begins.
"""

from __future__ import annotations

import shutil
import tomllib
from collections import Counter
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PACKAGES = {
    "neato": "graphviz",
    "dot": "graphviz",
    "node": "nodejs",
    "chromium": "chromium",
    "zsh": "zsh",
    "fish": "fish",
}


def system_program(name: str, *others: str) -> str:
    """Return the path of a program, or of another that will do as well.

    Raises:
        pytest.skip.Exception: none of them is there; the reason names the package.
    """
    path = next(filter(None, map(shutil.which, (name, *others))), None)
    if path is None:
        pytest.skip(f"{MISSING}{PACKAGES[name]}")
    return path


MISSING = "not installed: the system package "
"""What the reason of a skip begins with; the name of the package follows."""


def missing_packages(reasons: Iterable[str]) -> str:
    """Return how many tests were skipped for which package, from the reasons of skips; an empty text for none."""
    counts = Counter(reason.partition(MISSING)[2] for reason in reasons if MISSING in reason)
    if not counts:
        return ""
    skipped = ", ".join(f"{count} for {package}" for package, count in sorted(counts.items()))
    return f"skipped for system packages that are not installed (.ci/packages installs them): {skipped}"


def not_installed(extra: str = "dev") -> list[str]:
    """Return what is not installed of an extra in ``pyproject.toml`` and of the extras that it names."""
    file = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    extras, names, waiting = project["optional-dependencies"], [], [extra]
    for wanted in waiting:
        for requirement in map(Requirement, extras[wanted]):
            if requirement.name == project["name"]:
                waiting += sorted(requirement.extras)
            elif not requirement.marker or requirement.marker.evaluate():
                names.append(requirement.name)
    return sorted(name for name in names if not _is_installed(name))


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True
