"""Every mistake has its exit code and one message, with the user's line, without a traceback of gradtool's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradtool.cli import check_selection
from gradtool.engine.autodiff import backward_part
from gradtool.viz.views import backward as backward_view
from tests import processes
from tests.cli.conftest import DOCUMENT, Outcome, Run, Write

HEAD = "import paddle\npaddle.enable_static()\nx = paddle.static.data('x', [None, 3])\n"
NET = HEAD + "h = paddle.static.nn.fc(x, 2)\n"


def check(done: Outcome, code: int, *said: str) -> None:
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.count("error:") == 1
    for text in said:
        assert text in done.err
    assert "Traceback" not in done.err
    frames = [line.strip() for line in done.err.splitlines() if line.strip().startswith("File ")]
    assert all(frame.startswith('File "model.py", line ') for frame in frames)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["backward", "nosuch.py"], ["no such file: nosuch.py"]),
        (["backward", "modell.py"], ["no such file: modell.py", "hint  there is model.py"]),
        (["backward", "no.such.module:build"], ["no such file: no.such.module"]),
        (["backward", "."], [". is a folder"]),
        (["backward"], ["Missing argument 'MODEL'", "hint  gradtool backward --help"]),
        (["backward", "model.py", "--frobnicate"], ["No such option"]),
        (["bakward", "model.py"], ["unknown command 'bakward'", "closest: backward"]),
        (["backward", "model.py:bild"], ["unknown function in model.py: 'bild'", "closest: build"]),
        (["backward", "model.py", "--arg", "m=1"], ["build(n=1): got an unexpected keyword argument 'm'"]),
        (["backward", "model.py", "--arg", "n"], ["--arg n: expected NAME=VALUE"]),
        (["backward", "model.py", "--loss", "los"], ["unknown loss 'los'"]),
        (["backward", "model.py", "--no-grad", "fc_0.w"], ["unknown tensor for --no-grad: 'fc_0.w'", "fc_0.w_0"]),
        (["backward", "model.py", "--params", "fc_*.v_0"], ["unknown parameters for --params: 'fc_*.v_0'"]),
        (["backward", "model.py", "--params", "layer:fc_9"], ["unknown layer for --params: 'fc_9'", "fc_0"]),
        (["backward", "model.py", "--params", "op:relu"], ["unknown operator for --params: 'relu'"]),
        (["backward", "model.py", "--params", "line:model.py:1"], ["unknown line for --params: 'model.py:1'"]),
        (["backward", "model.py", "--params", "line:model.py"], ["expected line:FILE:NUMBER"]),
        (["backward", "model.py", "--params", "line:model.py:3"], ["no parameters there, only x"]),
        (["backward", "model.py", "--params", "@nosuch.txt"], ["cannot read the selectors in nosuch.txt"]),
        (["backward", "model.py", "--feed", "nosuch.npz"], ["cannot read nosuch.npz: No such file"]),
        (["backward", "model.py", "--feed", "model.py"], ["model.py is no .npz file"]),
        (["backward", "model.py", "--callbacks", "hooks"], ["--callbacks hooks: expected MODULE:FUNCTION"]),
        (["backward", "model.py", "--callbacks", ":bild"], ["unknown function for --callbacks in model.py: 'bild'"]),
        (["backward", "model.py", "--mode", "eager"], ["returned Variable", "remove --mode eager"]),
        (["gradients", "model.py", "--target", "nope"], ["unknown tensor for --target: 'nope'"]),
        (["gradients", "model.py", "--target-grad", "a,b"], ["names 2 tensors for 1 target"]),
        (["explain", "GT1034"], ["unknown rule 'GT1034'", "GT103"]),
    ],
)
def test_usage(gradtool: Run, model: Write, arguments: list[str], said: list[str]) -> None:
    model(HEAD + "def build(n=1):\n    return paddle.mean(paddle.static.nn.fc(x, 2))\n")
    check(gradtool(*arguments), 2, *said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", ["model.py is not Python: ", 'File "model.py", line 1', "def f(:"]),
        ("x = '\0'\n", ["model.py is not Python"]),
        ("x = 1\nraise ValueError('boo')\n", ["model.py raised ValueError: boo", 'File "model.py", line 2']),
        ("import no_such_module\n", ["raised ModuleNotFoundError: No module named 'no_such_module'"]),
        ("import sys\nsys.exit('bye')\n", ["model.py called sys.exit('bye')", "line 2", "__main__"]),
        ("def build():\n    return build()\n", ["raised RecursionError", 'File "model.py", line 2, in build']),
        (
            "def build():\n    try:\n        {}[1]\n    except KeyError as e:\n        raise OSError('x') from e\n",
            ["raised OSError: x", "after KeyError: 1"],
        ),
    ],
)
def test_the_model_raised(gradtool: Run, model: Write, text: str, said: list[str]) -> None:
    check(gradtool("backward", model(text)), 3, *said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import paddle\n", ["model.py defines no loss"]),
        (HEAD + "def net():\n    return paddle.mean(x)\n", ["model.py defines no loss", "model.py:net"]),
        (
            NET + "a, b = paddle.mean(h), paddle.mean(h * h)\n",
            ["several candidates for the loss: a (mean_0.tmp_0), b (mean_1.tmp_0)", "--loss NAME"],
        ),
        (
            HEAD + "y = paddle.static.nn.fc(x, 2)\n",
            ["model.py defines no loss", "gradtool gradients model.py --target y"],
        ),
        ("def build():\n    return 'loss'\n", ["build() in model.py returned str: expected a loss"]),
    ],
)
def test_no_one_loss(gradtool: Run, model: Write, text: str, said: list[str]) -> None:
    check(gradtool("backward", model(text)), 2, *said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NET + "loss = h\n", ["must have one element, but its shape is [-1, 2]", "made  model.py:4"]),
        (NET + "def build():\n    return h\n", ["must have one element"]),
        (
            HEAD + "y = paddle.static.data('y', [None, 4])\nloss = paddle.mean(x + y)\n",
            ["elementwise_add", "made  model.py:5", "loss = paddle.mean(x + y)"],
        ),
        (HEAD + "paddle.frobnicate(x)\n", ["paddle.frobnicate is not implemented", "made  model.py:4"]),
        (HEAD + "loss = x\n", ["model.py defines no loss"]),
    ],
)
def test_the_engine_refused(gradtool: Run, model: Write, text: str, said: list[str]) -> None:
    done = gradtool("backward", model(text))
    check(done, 2 if "defines no loss" in said[0] else 4, *said)


@pytest.mark.parametrize(
    ("feed", "code", "said"),
    [
        ({"z": np.ones((2, 3), "float32")}, 2, ["unknown tensor in feed.npz: 'z'", "closest: x"]),
        ({"x": np.ones((2, 4), "float32")}, 4, ["fed Variable 'x'", "[2, 4]", "made  model.py:3"]),
        ({"x": np.ones((2, 3), "float64")}, 4, ["must be 'float32', but received 'float64'", "made  model.py:3"]),
        ({}, 4, ["x"]),
    ],
)
def test_feeds_that_do_not_fit(
    gradtool: Run, model: Write, folder: Path, feed: dict[str, np.ndarray], code: int, said: list[str]
) -> None:
    np.savez(folder / "feed.npz", **feed)
    done = gradtool("backward", model(NET + "loss = paddle.mean(h)\n"), "--feed", "feed.npz", "-q", "-o", "out.txt")
    check(done, code, *said)
    assert not (folder / "out.txt").exists()


def test_a_feed_in_the_file_with_an_unknown_name(gradtool: Run, model: Write) -> None:
    done = gradtool("backward", model(NET + "loss = paddle.mean(h)\nfeed = {'xx': 1}\n"), "--run", "-q")
    check(done, 2, "unknown tensor in the feed from feed in model.py: 'xx'")


def test_pickles_are_not_read(gradtool: Run, model: Write, folder: Path) -> None:
    np.savez(folder / "feed.npz", x=np.array([object()], dtype=object), allow_pickle=True)
    check(gradtool("backward", model(""), "--feed", "feed.npz", "-q"), 2, "is no .npz file of plain arrays")


def test_outputs_that_cannot_be_written(gradtool: Run, model: Write, folder: Path) -> None:
    (folder / "there.txt").write_text("before", encoding="utf-8")
    before = ["model.py", *(p.name for p in folder.iterdir())]
    check(gradtool("backward", model(""), "-o", "no/such/folder.txt"), 2, "cannot write", "folder.txt")
    check(gradtool("backward", "model.py", "-o", "."), 2, "cannot write .: it is a directory")
    check(gradtool("backward", "model.py", "--dump", "there.txt"), 2, "cannot write to folder there.txt")
    # Two files, one of which cannot be written: neither is.
    check(gradtool("backward", "model.py", "-o", "there.txt", "--dot", "no/g.dot"), 2, "cannot write")
    check(gradtool("backward", "model.py", "-o", "no/out.txt", "--dot", "there.txt"), 2, "cannot write")
    assert (folder / "there.txt").read_text(encoding="utf-8") == "before"
    assert sorted(p.name for p in folder.iterdir()) == sorted(before)


def test_an_operator_without_gradient_on_the_path(folder: Path, model: Write) -> None:
    """In a process of its own: the operator that the model defines would stay."""
    text = (
        "import paddle\n"
        "from gradtool.paddle._dispatch import apply\n"
        "from gradtool.engine.ops.opdef import Trait, op\n"
        "@op('without_rule', trait=Trait.UNARY)\n"
        "def without_rule(k, x):\n"
        "    return x\n"
        "paddle.enable_static()\n"
        "x = paddle.static.data('x', [None, 3])\n"
        "h = apply('without_rule', paddle.static.nn.fc(x, 2))\n"
        "loss = paddle.mean(h)\n"
    )
    words = [
        sys.executable,
        "-c",
        "from gradtool.cli.main import main; main()",
        "backward",
        model(text),
        "-o",
        "out.txt",
    ]
    done = processes.run(words, cwd=folder)
    check(
        Outcome(done.returncode, done.stdout, done.stderr),
        4,
        "without_rule has no gradient, and the loss depends on its inputs through it",
        "made  model.py:9",
        "no_grad_set",
    )
    assert not (folder / "out.txt").exists()


def test_a_bug_says_so(gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise AssertionError("inside")

    monkeypatch.setattr(backward_view, "view", broken)
    done = gradtool("backward", model(""))
    check(done, 70, "gradtool itself failed: AssertionError: inside", "-v shows where")
    assert "Traceback" in gradtool("backward", "model.py", "-v").err
    monkeypatch.setattr(check_selection, "read_options", broken)
    assert "Traceback" in gradtool("check", "model.py", "-v").err


def test_interruption(gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    check(gradtool("backward", model("raise KeyboardInterrupt\n")), 130, "interrupted")

    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(backward_part, "check_program", interrupted)
    check(gradtool("backward", model("")), 130, "interrupted")


SIGTERM_WHILE_IT_WRITES = """
import os, signal
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", []),
        (NET + SIGTERM_WHILE_IT_WRITES + "loss = paddle.mean(h)\n", ["-o", "there.txt", "--dot", "new.dot"]),
    ],
)
def test_termination(
    gradtool: Run, model: Write, folder: Path, text: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an interruption: what was there stays, and nothing unfinished is left."""
    (folder / "there.txt").write_text("before", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", os.fsync)
    check(gradtool("backward", model(text), *options), 143, "error: terminated")
    assert sorted(p.name for p in folder.iterdir() if p.is_file()) == ["model.py", "there.txt"]
    assert (folder / "there.txt").read_text(encoding="utf-8") == "before"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_process_that_is_terminated(folder: Path, model: Write) -> None:
    waits = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", "from gradtool.cli.main import main; main()", "backward", model(waits)],
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"ready\n"
    process.terminate()
    assert b"error: terminated" in process.communicate(timeout=60)[1]
    assert process.returncode == 143


def test_whoever_waits_for_sigterm_goes_on_waiting(gradtool: Run, model: Write) -> None:
    """A program that calls the command, and has a handler of its own."""
    come: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: come.append(number))
    try:
        text = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n" + NET + "loss = paddle.mean(h)\n"
        assert gradtool("backward", model(text)).code == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    assert come == [signal.SIGTERM]


def test_a_reader_that_stops_reading(folder: Path, model: Write) -> None:
    program = "import sys; sys.stdin.read(); from gradtool.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "backward", model("")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, said = process.communicate(b"go")
    assert (process.returncode, said) == (141, b"")


def test_stdout_on_a_full_disk(folder: Path, model: Write) -> None:
    program = (
        "import errno, os, sys\n"
        "class Full:\n"
        "    encoding = 'utf-8'\n"
        "    isatty = staticmethod(lambda: False)\n"
        "    fileno = staticmethod(lambda: 1)\n"
        "    flush = staticmethod(lambda: None)\n"
        "    def write(self, text):\n"
        "        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
        "sys.stdout = Full()\n"
        "from gradtool.cli.main import main\n"
        "main()\n"
    )
    done = processes.run([sys.executable, "-c", program, "backward", model("")], cwd=folder)
    check(Outcome(done.returncode, done.stdout, done.stderr), 2, "cannot write to stdout: No space left on device")


def test_what_a_failed_command_leaves_behind(gradtool: Run, model: Write) -> None:
    """A failing model does not spoil the next one in the same process."""
    assert gradtool("backward", model(DOCUMENT + "raise ValueError\n")).code == 3
    assert "paddle" not in sys.modules
    assert gradtool("backward", model("")).code == 0
