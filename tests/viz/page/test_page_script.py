"""The script of the HTML page: its logic under node, and how its files fit together."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from gradtool.viz.render import html
from tests.programs import system_program

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "viz" / "page"


def test_logic_under_node() -> None:
    tests = sorted(str(f) for f in Path(__file__).parent.glob("*.test.mjs"))
    process = subprocess.run([system_program("node"), "--test", *tests], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    passed = re.search(r"^(?:#|ℹ) pass (\d+)$", process.stdout, re.MULTILINE)
    assert passed is not None
    written = sum(Path(t).read_text().count('\ntest("') for t in tests)
    assert int(passed[1]) >= written > 15


def test_every_file_is_in_the_page_after_those_that_it_uses() -> None:
    assert sorted(html.SCRIPTS) == sorted(f.name for f in PAGE.glob("*.mjs"))
    for i, name in enumerate(html.SCRIPTS):
        text = (PAGE / name).read_text()
        used = re.findall(r'from "\./([\w.]+)"', text)
        assert set(used) <= set(html.SCRIPTS[:i]), name
        assert text.count("import ") == len(used), name


def test_what_is_imported_is_used_and_exported() -> None:
    exported = {
        name: set(re.findall(r"^export (?:const|function|class) (\w+)", (PAGE / name).read_text(), re.MULTILINE))
        for name in html.SCRIPTS
    }
    for name in html.SCRIPTS:
        text = (PAGE / name).read_text()
        for names, file in re.findall(r'^import \{([^}]*)\} from "\./([\w.]+)";$', text, re.MULTILINE):
            for imported in filter(None, re.split(r"[\s,]+", names)):
                assert imported in exported[file], (name, imported)
                assert len(re.findall(rf"\b{imported}\b", text)) > 1, (name, imported)


def test_names_can_become_text_only_and_nothing_is_loaded() -> None:
    for file in PAGE.iterdir():
        text = file.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "fetch("):
            assert word not in text, (file.name, word)
        for word in ("XMLHttpRequest", "WebSocket", "import(", "url(http", "@import", "localStorage", " src="):
            assert word not in text, (file.name, word)
        addresses = set(re.findall(r"https?://[^\"' ]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, file.name


def oxlint(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The linter that the ``dev`` extra installs, with the repository's configuration.

    Raises:
        RuntimeError: it is missing; says what to install.
    """
    program = shutil.which("oxlint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        raise RuntimeError("the page's script is linted by oxlint, which is missing: pip install -e '.[dev]'")
    return subprocess.run(
        [program, "--deny-warnings", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_linter_has_nothing_to_say() -> None:
    process = oxlint("--format=unix", "viz", "tests")
    assert process.returncode == 0, process.stdout + process.stderr
    listed = oxlint("--debug=files", "viz", "tests").stdout
    assert sum(line.strip().endswith(".mjs") for line in listed.splitlines()) == len(written())


def test_the_linter_finds_what_the_configuration_asks_for(tmp_path: Path) -> None:
    bad = tmp_path / "viz" / "page" / "bad.mjs"
    bad.parent.mkdir(parents=True)
    bad.write_text('var a = eval("1");\nif (a == nowhere) document.title = a;\n')
    said = oxlint(f"--config={ROOT / '.oxlintrc.json'}", "--format=unix", str(bad)).stdout
    for rule in ("no-var", "no-eval", "eqeqeq", "no-undef"):
        assert f"eslint({rule})" in said, said


def written() -> list[Path]:
    """The files of the page's script and of its tests."""
    return [*PAGE.glob("*.mjs"), *Path(__file__).parent.glob("*.mjs")]


def test_lines_are_as_short_as_elsewhere() -> None:
    for file in written():
        for number, line in enumerate(file.read_text().splitlines(), 1):
            assert len(line) <= 120, f"{file.name}:{number}"
            assert line == line.rstrip(), f"{file.name}:{number}"
