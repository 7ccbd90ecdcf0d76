"""Test folders are source folders, but for two tables in ``tests/README.md``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
GUIDE = TESTS / "README.md"
CODE = {".py", ".mjs"}


def rows(title: str) -> list[list[str]]:
    """The cells of the table under a heading, without the backquotes around names."""
    _, _, rest = GUIDE.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


WHOLE = dict(rows("Folders that mirror no package"))
ELSEWHERE = {package: folder for package, folder, _ in rows("Packages that are tested in another folder")}


def packages(root: Path = ROOT) -> set[str]:
    """The folders of the sources that hold code beside ``__init__.py``."""
    files = [f for top in ("engine", "viz", "cli") for f in (root / top).rglob("*") if f.suffix in CODE]
    return {f.parent.relative_to(root).as_posix() for f in files if f.name != "__init__.py"}


@cache
def sources() -> frozenset[str]:
    """Those of the repository."""
    return frozenset(packages())


def folder_of(package: str) -> str:
    """Where the tests of a package stand: its folder, without ``engine/``."""
    return package.removeprefix("engine/")


@cache
def with_tests() -> frozenset[str]:
    """The folders that hold tests, and every folder that stands directly in ``tests``."""
    tests = [f for f in TESTS.rglob("*") if re.fullmatch(r"test_.*\.py|.*\.test\.mjs", f.name)]
    tops = [f for f in TESTS.iterdir() if f.is_dir() and f.name != "__pycache__"]
    return frozenset(f.relative_to(TESTS).as_posix() for f in [*tops, *(t.parent for t in tests)]) - {"."}


def untold(packages: Iterable[str]) -> set[str]:
    """The packages that have no folder of tests, and no line that says where they are tested."""
    return {p for p in packages if folder_of(p) not in with_tests() and p not in ELSEWHERE}


def test_every_package_with_code_has_a_folder_of_tests() -> None:
    assert not untold(sources()), "add tests in the folder of that name, or a line to tests/README.md"


def test_every_folder_of_tests_is_a_package_or_stands_in_the_table() -> None:
    mirrored = {folder_of(p) for p in sources()} | set(ELSEWHERE.values())
    alone = {f for f in with_tests() - mirrored if f.partition("/")[0] not in WHOLE}
    assert not alone, "move the tests to their package's folder, or add a line to tests/README.md"


def test_a_new_package_without_tests_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "engine" / "novelties"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    assert untold(packages(tmp_path)) == set()
    (package / "novelty.py").touch()
    assert untold(packages(tmp_path)) == {"engine/novelties"}


@pytest.mark.parametrize("folder", WHOLE)
def test_a_folder_that_mirrors_nothing_is_there_and_mirrors_nothing(folder: str) -> None:
    assert (TESTS / folder).is_dir()
    assert folder not in {folder_of(p) for p in sources()}
    assert WHOLE[folder]


@pytest.mark.parametrize("package", ELSEWHERE)
def test_a_package_that_is_tested_elsewhere_is_there_and_so_are_its_tests(package: str) -> None:
    assert package in sources()
    assert ELSEWHERE[package] in with_tests()
    assert folder_of(package) not in with_tests(), "its folder holds tests: the line is not needed"


def test_contributing_says_what_every_part_is_for() -> None:
    parts = [f.parent for top in ("engine", "viz") for f in (ROOT / top).glob("*/__init__.py")]
    tables = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Rules of the house\n")[0]
    assert not [part for part in parts if f"`{part.name}/`" not in tables and f"  {part.name}/" not in tables]
