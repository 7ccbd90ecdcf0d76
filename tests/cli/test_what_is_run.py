"""What is run as Python is a ``.py`` file, a module, a cell or standard input; nothing that is called data."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gradtool import paddle
from gradtool.cli.commands import OF_A_MODEL, every
from gradtool.engine.core import state
from gradtool.engine.importers import saved_program
from gradtool.engine.ir.program import Program
from tests.cli.conftest import DOCUMENT, WITHOUT_A_MODEL, Run, named

RUNS = "import posix\nposix.mkdir('ran')\n" + DOCUMENT
"""A folder stays where the run may write (`--write`); elsewhere the run is refused, and ends with code 3."""
ENDINGS = [*saved_program._FORMS, *saved_program._OTHERS, "", ".text", ".PY~", ".model", ".PDMODEL"]
WITH_MODEL = [c for c in every() if c not in (*WITHOUT_A_MODEL, OF_A_MODEL)]
MORE = {
    "export": ["-o", "m.pdmodel"],
    "report": ["--html", "r.html"],
    "debug": ["--batch", "-x", "hunt.gdt"],
}


def words(command: str, file: str) -> list[str]:
    return [*named(command, file), *MORE.get(command, [])]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", ENDINGS)
def test_python_under_another_name_is_not_run(gradtool: Run, folder: Path, ending: str) -> None:
    name = f"model{ending}"
    (folder / name).write_text(RUNS)
    (folder / "hunt.gdt").write_text("step\n")
    for command in WITH_MODEL:
        done = gradtool(*words(command, name))
        assert (done.code, done.out) == (2, ""), command
        assert done.err.startswith(f"error: {name} ")
        assert "is not Python" not in done.err
    assert gradtool("backward", "x.py", "--callbacks", f"{name}:f").code == 2
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("ending", [e for e in ENDINGS if e])
def test_the_name_of_a_missing_file_is_no_module(gradtool: Run, folder: Path, ending: str) -> None:
    """``model.json`` is not the module ``json`` in the package ``model``."""
    if ending.lower() not in {*saved_program._FORMS, *saved_program._OTHERS}:
        ending = ".py"
    (folder / "model.py" if ending != ".py" else folder / "other.py").write_text(RUNS)
    assert f"no such file: model{ending}" in gradtool("backward", f"model{ending}").err
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("m.json", b"\x80\x04\x95", "m.json holds no program: the program: expected JSON, but byte 0 is not UTF-8"),
        ("m.json", b"import os", "m.json holds no program: the program: expected JSON, but line 1"),
        ("m.txt", b"import os\nos.x()", "which begins with { // block_idx:0, but it begins with 'import os"),
        ("m.pdmodel", b"import os\nos.x()", "m.pdmodel holds no program: the bytes"),
        ("m.pdparams", b"\x80\x04\x95", "m.pdparams holds no program: the bytes"),
        ("m.npz", b"import os", "m.npz holds no program: by its name it holds arrays"),
        ("m.jsonl", b"import os", "--replay FILE.jsonl"),
        ("m.safetensors", b"", "m.safetensors holds no program: the bytes"),
        ("m", b"import os", "m is neither Python, which is called NAME.py, nor a saved program"),
    ],
)
def test_what_is_wrong_in_data_is_said(gradtool: Run, folder: Path, name: str, content: bytes, said: str) -> None:
    (folder / name).write_bytes(content)
    done = gradtool("backward", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("name", ["model.py", "model.Py"])
def test_a_python_file_is_run(gradtool: Run, folder: Path, name: str) -> None:
    (folder / name).write_text(RUNS)
    assert gradtool("backward", name, "--write").code == 0
    assert (folder / "ran").exists()


def test_standard_input_is_run(gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(RUNS.encode()))
    monkeypatch.setattr("sys.stdin", stream)
    assert gradtool("backward", "-", "--write").code == 0
    assert (folder / "ran").exists()


@pytest.mark.sampled(2, "name")
@pytest.mark.parametrize("name", ["net.json", "net.txt", "net", "net.program"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "byte order mark"])
def test_a_saved_program_may_have_any_name_that_is_not_taken(
    gradtool: Run, folder: Path, name: str, mark: bytes
) -> None:
    program = Program()
    with state.keep_state(), paddle.static.program_guard(program, Program()):
        state.enable_static()
        paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 4))
    (folder / name).write_bytes(mark + (str(program) if name == "net.txt" else program.to_json()).encode())
    done = gradtool("backward", name)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("name", ["n" * 10_000, "n" * 300 + ".py", "a/" * 3000, "nul\0.py", "n\ud800"])
def test_what_can_be_no_name_of_a_file(gradtool: Run, name: str) -> None:
    for command in WITH_MODEL:
        done = gradtool(*words(command, name))
        assert (done.code, done.out) == (2, ""), command
        assert len(done.err) < 600
