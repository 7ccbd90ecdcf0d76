"""What a shell offers at Tab: asked as the scripts of the shells ask, and once by a real bash."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class

from gradtool.cli import completion
from gradtool.cli.main import cli
from gradtool.engine import importers
from tests.cli.conftest import Run, Write
from tests.programs import system_program

Tab = Callable[[str], list[str]]


@pytest.fixture
def tab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Tab:
    """``tab("why mo")`` is what is offered for the last word: ``plain,…``, ``file,…`` or ``dir,…``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setattr(completion, "PATIENCE", 300)  # no test fails because a machine is busy
    monkeypatch.setattr(completion, "SECONDS", 100)
    kind = get_completion_class("bash")
    assert kind is not None

    def offered(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", f"gradtool {line}")
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" "))))
        return kind(cli, {}, "gradtool", "_GRADTOOL_COMPLETE").complete().splitlines()

    return offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("gradc", ["plain,gradcheck"]),
        ("mod", ["file,mod"]),
        ("why --prov", ["plain,--prove"]),
        ("graph model.py --layout mi", ["plain,mirror"]),
        ("self samples co", ["plain,copy"]),
        ("backward mod", ["file,mod"]),
        ("backward model.py -o ou", ["file,ou"]),
        ("backward model.py --dump ou", ["dir,ou"]),
        ("why mod", ["file,mod"]),
        ("nosuch mod", ["file,mod"]),
    ],
)
def test_words_files_and_folders(line: str, offered: list[str], tab: Tab) -> None:
    assert tab(line) == offered


def test_codes_and_samples(tab: Tab) -> None:
    assert tab("explain GT10") == tab("check model.py --select gt10")
    assert {"plain,GT101", "plain,GT103"} <= set(tab("explain GT10"))
    assert set(tab("explain GT")) > {"plain,GT101", "plain,GT-E001"}
    assert {"plain,tan", "plain,tanh"} <= set(tab("explain tan"))
    assert tab("self samples show missing_g") == ["plain,missing_gradient"]
    assert tab("self samples copy all mod") == ["dir,mod"]


def test_forms_are_offered_and_completed(tab: Tab) -> None:
    assert tab("stats --mem") == ["plain,--memory"]
    assert tab("stats --memory model.py --to") == ["plain,--top"]
    assert {"plain,--dump", "plain,--text", "plain,--where"} <= set(tab("graph --"))
    assert {"plain,samples", "plain,completion"} <= set(tab("self "))
    assert tab("self com") == ["plain,completion"]
    assert tab("graph --dump ou") == ["dir,ou"]


def test_nothing_typed_offers_the_commands(tab: Tab) -> None:
    assert {"plain,backward", "plain,why", "plain,self"} <= set(tab(""))


def test_names_of_the_model_on_the_line(tab: Tab, model: Write) -> None:
    model("")
    assert tab("backward model.py --no-grad my_fc.") == ["plain,my_fc.b_0", "plain,my_fc.w_0"]
    assert tab("why model.py my_fc.b") == ["plain,my_fc.b_0"]
    assert tab("graph model.py --focus square_error_cost") == []
    assert "plain,mean_0.tmp_0" not in tab("backward model.py --no-grad mean")


def test_names_come_from_the_cache_until_the_model_changes(
    tab: Tab, model: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []

    def run(file: str) -> list[str] | None:
        runs.append(file)
        return None if len(runs) == 1 else [f"w_{len(runs)}"]

    monkeypatch.setattr(completion, "_run", run)
    model("")
    line = "backward model.py --params w"
    assert [tab(line) for _ in range(3)] == [[], ["plain,w_2"], ["plain,w_2"]]
    model("import paddle\n")
    assert tab(line) == ["plain,w_3"]
    (cached, *_) = (folder / "cache").rglob("*.json")
    cached.write_text("{", encoding="utf-8")
    assert tab(line)
    monkeypatch.setenv(completion.LOADS, "0")
    model("import paddle\n\n")
    before = len(runs)
    assert tab(line) == []
    assert len(runs) == before


@pytest.mark.parametrize("ending", importers.endings())
def test_every_file_that_can_be_a_model_is_asked_for_its_names(
    ending: str, tab: Tab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "_run", lambda file: [file])
    (folder / f"net{ending}").write_bytes(b"")
    assert tab(f"backward net{ending} --params n") == [f"plain,net{ending}"]


def test_what_a_model_does_ends_no_completion(tab: Tab, model: Write) -> None:
    model("raise SystemExit(3)\n")
    assert tab("backward model.py --params w") == []
    assert tab("backward nowhere.py --params w") == []


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_every_shell_has_its_script(shell: str, gradtool: Run) -> None:
    done = gradtool("self", "completion", shell)
    if get_completion_class(shell) is None:
        assert (done.code, "pip install --upgrade click" in done.err) == (2, True)
    else:
        assert (done.code, "_GRADTOOL_COMPLETE" in done.out) == (0, True)


@pytest.fixture
def script(folder: Path, gradtool: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``script("fish")`` writes the file ``script`` for a shell, which finds gradtool on its path."""
    program = folder / "bin" / "gradtool"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom gradtool.cli.main import main\nmain()\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(folder))

    def write(shell: str) -> None:
        (folder / "script").write_text(gradtool("self", "completion", shell).out, encoding="utf-8")

    return write


def said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


def test_bash_completes(script: Callable[[str], None]) -> None:
    script("bash")
    typed = (
        "COMP_WORDS=(gradtool gradch); COMP_CWORD=1; _gradtool_completion gradtool gradch; printf '%s' \"$COMPREPLY\""
    )
    assert said("bash", "--norc", "-c", f". ./script; {typed}") == "gradcheck"


def test_fish_completes(script: Callable[[str], None]) -> None:
    script("fish")
    typed = "source script; complete -C 'gradtool why --prov'; complete -C 'gradtool self samples sh'"
    lines = said(system_program("fish"), "--no-config", "-c", typed).splitlines()
    assert [line.split()[0] for line in lines] == ["--prove", "show"]


def test_zsh_completes(script: Callable[[str], None]) -> None:
    """Its completion works in its line editor alone, so a terminal is typed into."""
    script("zsh")
    ours, its = pty.openpty()
    zsh = subprocess.Popen(
        [system_program("zsh"), "-f", "-i"], stdin=its, stdout=its, stderr=its, start_new_session=True
    )
    os.close(its)

    def wait_for(text: str) -> None:
        seen = ""
        while text not in seen:
            assert select.select([ours], [], [], 120)[0], seen
            seen += os.read(ours, 4096).decode(errors="replace")

    try:
        os.write(ours, b"autoload -Uz compinit; compinit -u -D; source ./script; PS1='typ''e> '\n")
        wait_for("type> ")
        os.write(ours, b"gradtool gradch\t")
        wait_for("gradcheck")
    finally:
        zsh.kill()
        zsh.wait()
        os.close(ours)
