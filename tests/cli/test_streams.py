"""Standard streams that are closed or full, and what reaches a terminal through those that are open."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradtool.cli.commands import OF_A_MODEL, every
from gradtool.engine.kernels.choice import available
from gradtool.viz.text import legible
from tests import processes
from tests.cli.conftest import DOCUMENT, WITHOUT_A_MODEL, Run, typed
from tests.sampling import sampled

LINES = [
    ["--help"],
    ["--version"],
    [],
    ["nosuch"],
    ["backward"],
    *([*c.split(), "--help"] for c in every() if c != OF_A_MODEL),
]
ON_MODEL = {
    "export": ["export", "model.py", "-o", "m.pdmodel"],
    "debug": ["debug", "model.py", "--batch", "-x", "hunt.gdt"],
    "report": ["report", "model.py", "--html", "r.html"],
    "graph": ["graph", "model.py", "-o", "g.svg"],
}

DRIVER = """\
import json, os, sys, warnings
warnings.simplefilter("ignore")
import gradtool.viz.debugger.from_models, gradtool.viz.report.from_python, gradtool.viz.picture
from gradtool.cli.main import main
os.chdir(sys.argv[2])
codes = []
for line, redirect in json.loads(sys.argv[1]):
    child = os.fork()
    if child:
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        continue
    said = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 2)
    os.close(said)
    for number, where in redirect:
        if where:
            os.dup2(os.open(where, os.O_RDWR), number)
        else:
            os.close(number)
            setattr(sys, ("stdin", "stdout", "stderr")[number], None)  # as Python has it when it starts with none
    try:
        main(line)
    except SystemExit as left:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                os._exit(120)
        os._exit(left.code)
print(json.dumps(codes))
"""
REDIRECTS = {
    "stdout closed": [[1, ""]],
    "stdout full": [[1, "/dev/full"]],
    "all closed": [[0, ""], [1, ""], [2, ""]],
    "both full": [[1, "/dev/full"], [2, "/dev/full"]],
}
FOR_ALL = ("stdout full", "all closed")
FEW = ["backward", "why", "graph", "explain --ops"]
"""For the other streams, which are met where these are: in what writes for all commands."""

TAKEN = sampled([(c, r) for c in every() for r in FOR_ALL], str, one_in=8, family=lambda pair: pair[1])
"""The other commands are tried with one of these streams or with none; all with both by ``--whole``."""


def ends(folder: Path, lines: Sequence[list[str]], redirect: list[list[object]]) -> tuple[list[int], str]:
    """Exit codes of commands with such streams, and what they said on stderr."""
    work = json.dumps([[line, redirect] for line in lines])
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = processes.run([sys.executable, "-c", DRIVER, work, str(folder)], env=buffered)
    assert done.returncode == 0, done.stderr
    codes: list[int] = json.loads(done.stdout)
    return codes, (folder / "said").read_text()


@pytest.mark.parametrize("redirect", REDIRECTS)
def test_a_stream_that_takes_nothing(folder: Path, redirect: str) -> None:
    (folder / "model.py").write_text(DOCUMENT)
    (folder / "hunt.gdt").write_text("step\n")
    names = [c for c in every() if c in FEW or (c, redirect) in TAKEN]
    lines = [ON_MODEL.get(c, typed(c) if c in WITHOUT_A_MODEL else typed(c, "model.py")) for c in names]
    helped = [line for line in LINES if line[1:] != ["--help"] or line[0] in names]
    codes, said = ends(folder, [*helped, *lines], REDIRECTS[redirect])
    assert set(codes) <= {0, 1, 2}
    assert "itself failed" not in said
    assert "Traceback" not in said
    if redirect.startswith("stdout"):
        assert said.count("error: cannot write to stdout: ") > len(names)


NASTY = "a\x1b[31m\x07\x9b1m\u202e\u2066\x00\x7f\ud800\u2028b"
TYPED = NASTY.replace("\x00", "").replace("\ud800", "\udc9b")
"""What a command line can hold of that."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def test_every_character_of_that_kind_is_shown_by_its_number() -> None:
    shown = legible(NASTY)
    assert CONTROL.search(shown) is None
    assert shown == r"a\x1b[31m\x07\x9b1m\u202e\u2066\x00\x7f\ud800\u2028b"
    assert len(legible("see " + "n" * 10_000)) < 200


def program_with(name: str) -> str:
    """A program in which a variable and a parameter have nasty names."""
    from gradtool import paddle
    from gradtool.engine.ir.program import Program

    main = Program()
    with paddle.static.program_guard(main, Program()):
        x = paddle.static.data("x_name", [2, 3])
        paddle.mean(paddle.static.nn.fc(x, 4, name="fc_name"))
    return main.to_json().replace("x_name", json.dumps(name)[1:-1]).replace("fc_name", json.dumps(name)[1:-1])


MODEL_RAISES = f"import warnings\nname = {NASTY!r}\nwarnings.warn('see ' + name)\nraise ValueError(name)  # \x1b[31m\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", [c for c in every() if c not in WITHOUT_A_MODEL])
def test_names_reach_a_terminal_escaped(gradtool: Run, folder: Path, command: str) -> None:
    (folder / "net.json").write_text(program_with(NASTY))
    (folder / "raises.py").write_text(MODEL_RAISES.encode("utf-8", "replace").decode(), encoding="utf-8")
    (folder / "hunt.gdt").write_text(f"step\nlist\nx {NASTY[:9]}\n")
    more = {
        "export": ["-o", "m.pdmodel"],
        "report": ["--html", "r.html"],
        "debug": ["--batch", "-x", "hunt.gdt"],
    }.get(command, [])
    first = {"sweep": ["sweep", "why", "--seeds", "0,1"]}.get(command, typed(command))
    options = ["--loss", "--mode", "--seed", f"--{TYPED}", "--format", "--feed", "-o"]
    lines = [
        [*first, "net.json", *more],
        [*first, "raises.py", *more],
        [*first, NASTY, *more],
        [*first, TYPED, *more],
        [TYPED],
        *([*first, "net.json", *more, option, TYPED] for option in options),
    ]
    if command == "graph --where":
        lines.append(["graph", "--where", TYPED, "net.json"])
    for line in lines:
        done = gradtool(*line)
        assert done.code != 70, done.err
        assert CONTROL.search(done.err) is None, (line, done.err)
        assert CONTROL.search(done.out) is None, (line, done.out)


def test_notes_and_warnings_are_escaped_too(gradtool: Run, folder: Path) -> None:
    text = f"import warnings, paddle\npaddle.enable_static()\nwarnings.warn({NASTY!r})\n" + DOCUMENT
    (folder / "model.py").write_text(text + f"feed = {{'x': 1, {NASTY!r}: 2}}\n")
    code = "import sys; from gradtool.cli.main import main; main(sys.argv[1:])"
    words = [sys.executable, "-c", code, "backward", "model.py", "--run"]
    said = processes.run(words, cwd=folder).stderr
    assert "UserWarning: a\\x1b[31m" in said
    assert "feed: x, a\\x1b[31m" in said
    assert CONTROL.search(said) is None


def test_the_backends_that_are_offered_are_those_that_exist(gradtool: Run) -> None:
    done = gradtool("backward", "model.py", "--backend", "tensorflow")
    assert done.code == 2
    assert all(repr(name) in done.err for name in available())
