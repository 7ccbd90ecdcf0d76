"""What lies beside a model or beside data never runs in place of what gradtool imports.

In a folder there is a planted module for everything that Python brings and that gradtool is built on. Each leaves a
mark when it is run. Fresh processes run every command there on every kind of file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.cli.commands import every
from gradtool.engine.core import state
from gradtool.engine.ir.program import Program
from gradtool.engine.script import imports
from tests.cli.conftest import WITHOUT_A_MODEL, named, typed
from tests.sampling import sampled

PLANTED = sorted(sys.stdlib_module_names | imports.PACKAGES | {sysconfig._get_sysconfigdata_name()})

DRIVER = """\
import json, os, sys
from gradtool.cli.main import main

class Asked:
    names = set()

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if path is None:
            cls.names.add(name)

folder, lines = json.loads(sys.argv[1])
os.chdir(folder)  # the empty name on sys.path, which -c puts there, is this folder from here on
sys.meta_path.insert(0, Asked)
with open(os.devnull, "w") as nowhere:
    out, err = sys.stdout, sys.stderr
    codes = []
    for line in lines:
        sys.stdout = sys.stderr = nowhere
        try:
            main(line)
        except SystemExit as left:
            codes.append(left.code)
        sys.stdout, sys.stderr = out, err
print(json.dumps([codes, sorted(Asked.names)]))
"""

OPTIONS: Mapping[str, Sequence[str]] = {
    "backward": ["--run", "--dump", "out"],
    "graph": ["-o", "out.html"],
    "export": ["-o", "m.pdmodel"],
    "debug": ["--batch", "-x", "hunt.gdt"],
    "report": ["--html", "out.html", "--ipynb", "out.ipynb", "--md", "out.md"],
}
"""What commands need, or do more with, beside a model."""

MODEL = """\
import paddle
import helper, profile
from tomllib import MINE

paddle.enable_static()
x = paddle.static.data("x", [2, 3])
loss = paddle.mean(paddle.static.nn.fc(x, 4, name=helper.NAME + profile.NAME + MINE))
"""


def line_of(command: str, file: str) -> list[str]:
    """The words of a command on a file."""
    if command in WITHOUT_A_MODEL:
        return typed(command, *WITHOUT_A_MODEL[command])
    return [*named(command, file), *OPTIONS.get(command, [])]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of data file, a model, and planted modules."""
    folder = tmp_path_factory.mktemp("planted")
    main, startup = Program(), Program()
    with (
        state.keep_state(),
        paddle.static.scope_guard(paddle.static.Scope()),
        paddle.static.program_guard(main, startup),
    ):
        state.enable_static()
        x = paddle.static.data("x", [2, 3])
        paddle.mean(paddle.static.nn.fc(x, 4, name="body"))
        paddle.static.Executor().run(startup)
        paddle.static.save(main, str(folder / "net"))
    (folder / "net.json").write_text(main.to_json())
    (folder / "net.txt").write_text(str(main))
    (folder / "hunt.gdt").write_text("step\nlist\n")
    np.savez(folder / "net.npz", x=np.ones((2, 3), np.float32))
    (folder / "net.safetensors").write_bytes((folder / "net.pdparams").read_bytes())
    (folder / "net.jsonl").write_text('{"schema": "gradtool/session/1"}\n')
    for name in PLANTED:
        (folder / f"{name}.py").write_text(f"import posix\nposix.mkdir({str(folder / 'ran-')!r} + {name!r})\n")
    return folder


DATA = ["net.json", "net.txt", "net.pdmodel", "net.pdparams", "net.npz", "net.safetensors", "net.jsonl"]
CODES = {file: {2} for file in DATA} | {"net.json": {0, 1, 4}, "net.txt": {0, 1, 4}, "net.pdmodel": {0, 1}}
"""4: there are no values to run it with."""


def run(folder: Path, *lines: Sequence[str], options: Sequence[str] = ()) -> tuple[list[int], list[str]]:
    """Exit codes of commands one after the other in a fresh process, and the modules that were looked for."""
    work = json.dumps([str(folder), lines])
    done = subprocess.run([sys.executable, *options, "-c", DRIVER, work], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    codes, names = json.loads(done.stdout)
    return codes, names


def check(folder: Path, names: Sequence[str]) -> None:
    assert [p.name for p in folder.glob("ran-*")] == []
    unprotected = {n for n in names if n not in PLANTED and not imports.is_protected(n)}
    unprotected -= {"gradtool", "paddle", "helper"}
    assert unprotected == set(), "what gradtool imports stands in imports.PACKAGES"


@pytest.mark.parametrize("file", DATA)
def test_no_command_runs_what_lies_beside_data(planted: Path, file: str) -> None:
    commands = [name for name in every() if name not in WITHOUT_A_MODEL]
    taken = sampled(commands, lambda name: f"{name} {file}", one_in=12)
    codes, names = run(planted, *(line_of(name, file) for name in taken))
    check(planted, names)
    assert set(codes) <= CODES[file]


def test_nor_does_any_in_another_order(planted: Path) -> None:
    """What one command has imported, the next one does not look for."""
    codes, names = run(planted, *(line_of(c, "net.json") for c in reversed(every())))
    check(planted, names)
    assert set(codes) <= CODES["net.json"]


def test_a_model_has_its_own_modules_and_gradtool_has_its_own(planted: Path) -> None:
    """``profile`` and ``tomllib`` are the model's where it imports them, as under ``python model.py``."""
    own = {"helper.py": "NAME = 'h'\n", "profile.py": "import helper\nNAME = 'p'\n", "tomllib.py": "MINE = 'm'\n"}
    before = {name: (planted / name).read_text() for name in own if (planted / name).exists()}
    try:
        for name, text in own.items():
            (planted / name).write_text(text)
        (planted / "model.py").write_text(MODEL)
        codes, names = run(planted, *(line_of(c, "model.py") for c in every()))
    finally:
        for name, text in before.items():
            (planted / name).write_text(text)
    check(planted, names)
    assert set(codes) <= {0, 1}


def test_what_python_imports_at_its_start_stays_in_place(tmp_path: Path) -> None:
    """Nothing takes the place of these under ``python model.py`` either."""
    model = tmp_path / "model.py"
    model.write_text("import sys; print(*(n for n in sys.modules if '.' not in n))", encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", model], capture_output=True, text=True, check=True)
    at_start = {n for n in done.stdout.split() if n in sys.stdlib_module_names}
    assert [n for n in at_start if not n.startswith("_") and imports.is_protected(n)] == []


def test_after_a_command_imports_are_as_before(planted: Path) -> None:
    import builtins

    before: tuple[Any, ...] = builtins.__import__, list(sys.meta_path), list(sys.path)
    with imports.model_imports(str(planted)):
        assert sys.path[0] == str(planted)
    assert (builtins.__import__, sys.meta_path, sys.path) == before
