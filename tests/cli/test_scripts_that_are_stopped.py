"""Scripts that are stopped: by the number of passes, by a limit of time, by Ctrl-C; what ran is answered about."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

import gradtool
from gradtool.engine.loading import loader
from tests.cli.conftest import Run, Write

EAGER = """
import os, signal, sys, time
import paddle

def main():
    net = paddle.nn.Linear(3, 2)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    step = 0
    try:
        while True:
            loss = net(paddle.ones([4, 3])).square().mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            step += 1
            if step == 3:
                {then}
    finally:
        print("finally", step)
        with open("log.txt", "a") as log:
            log.write(f"{{step}}")

if __name__ == "__main__":
    main()
"""
STATIC = """
import os, signal, sys, time
import numpy as np
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 3])
loss = paddle.mean(paddle.static.nn.fc(x, 2))
paddle.optimizer.SGD(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
net = lambda x: exe.run(feed={{"x": np.ones((4, 3), "float32")}})
step = 0
try:
    while True:
        exe.run(feed={{"x": np.ones((4, 3), "float32")}}, fetch_list=[loss])
        step += 1
        if step == 3:
            {then}
finally:
    print("finally", step)
    with open("log.txt", "a") as log:
        log.write(f"{{step}}")
"""
CTRL_C = "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)"
IN_GRADTOOL = "paddle.to_tensor(Presses())\n                time.sleep(60)"
PRESSES = """
class Presses:
    def __array__(self, dtype=None, copy=None):
        import numpy as np
        os.kill(os.getpid(), signal.SIGINT)
        print("pressed")
        return np.ones(3, "float32")
"""
COMMANDS = ["backward", "why", "nan", "stats", "stats --memory", "stats --time", "gradcheck", "graph --text", "graph"]
SOME = ["why", "stats", "graph"]
"""A limit of time takes that time; it ends a script by the way that Ctrl-C takes, which is tried with all commands."""


@pytest.fixture(params=[EAGER, STATIC], ids=["eager", "static"])
def template(request: pytest.FixtureRequest) -> str:
    text: str = request.param
    return text


def line_of(text: str, what: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_answers_on_what_ran(gradtool: Run, model: Write, template: str, command: str) -> None:
    text = template.format(then=CTRL_C)
    done = gradtool(command, model(text))
    assert done.code == 0, done.err
    assert done.out
    line = line_of(text, "os.kill")
    assert (
        f"model.py was interrupted at model.py:{line} after 3 backward passes; the answer is incomplete\n"
        in done.out + done.err
    )
    assert done.err.count("finally 3\n") == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("command", SOME)
def test_a_limit_of_time_answers_on_what_ran(gradtool: Run, model: Write, template: str, command: str) -> None:
    done = gradtool(command, model(template.format(then="time.sleep(60)")), "--limit", "1.5")
    assert done.code == 0, done.err
    assert done.out
    assert "after 1.5 s and 3 backward passes; --limit SECONDS gives it longer\n" in done.out + done.err
    assert done.err.count("finally 3\n") == 1
    assert "--limit 1.5" in done.out or command == "graph"
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_enough_passes(
    gradtool: Run, model: Write, template: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "PATIENCE", 0.0)
    done = gradtool(command, model(template.format(then="pass")), *(() if command == "nan" else ("--steps", "4")))
    passes = 50 if command == "nan" else 4
    assert done.code == 0, done.err
    assert "--steps all lets it run to its end" in done.out + done.err
    assert done.err.count(f"finally {passes}\n") == 1


def test_what_gradtool_is_at_comes_to_its_end(gradtool: Run, model: Write, template: str) -> None:
    """Ctrl-C in the middle of an operator: it is done, and the script ends at its next line."""
    text = PRESSES + template.format(then="p = Presses()\n                paddle.ones([1]) if p is None else np_of(p)")
    text = "import numpy as np\nimport paddle\ndef np_of(p):\n    t = paddle.to_tensor(p)\n    print('never')\n" + text
    done = gradtool("backward", model(text.replace("                paddle.ones", " " * indent(text) + "paddle.ones")))
    assert done.code == 0, done.err
    assert "pressed\n" in done.err
    assert "never" not in done.err
    assert "was interrupted at model.py:" in done.out


def indent(text: str) -> int:
    """How far the line is indented at which the script is stopped."""
    line = next(line for line in text.splitlines() if "p = Presses()" in line)
    return len(line) - len(line.lstrip())


def test_a_script_may_have_its_own_way_at_ctrl_c(gradtool: Run, model: Write, template: str) -> None:
    for own in ("print('saved', step)", "raise KeyboardInterrupt", "raise", "sys.exit(1)"):
        text = template.format(then=CTRL_C)
        at = text.index("finally:")
        space = text[text.rindex("\n", 0, at) + 1 : at]
        text = text[: at - len(space)] + f"{space}except KeyboardInterrupt:\n{space}    {own}\n{space}" + text[at:]
        done = gradtool("why", model(text))
        assert (done.code, bool(done.out)) == (0, True), done.err
        assert ("saved 3\n" in done.err) == ("saved" in own)
        assert done.err.count("finally 3\n") == 1
        assert "the answer is incomplete\n" in done.out + done.err


def test_a_script_that_swallows_everything_is_stopped_again(gradtool: Run, model: Write) -> None:
    text = EAGER.format(then="pass").replace("    finally:", "    except:\n        print('swallowed')\n    finally:")
    text = text.replace("    main()\n", "    for _ in range(3):\n        main()\n")
    done = gradtool("why", model(text), "--steps", "2")
    assert done.code == 0
    assert done.err.count("swallowed") == 3
    assert "after 2 backward passes; --steps all" in done.out + done.err


def test_without_anything_to_tell_ctrl_c_is_what_it_was(gradtool: Run, model: Write) -> None:
    done = gradtool("why", model("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"))
    assert (done.code, done.out) == (130, "")
    assert done.err.endswith("error: interrupted\n")
    assert gradtool("why", model("raise KeyboardInterrupt\n")).code == 130


def test_a_second_ctrl_c_ends_at_once(gradtool: Run, model: Write, template: str) -> None:
    text = template.format(then=CTRL_C).replace('print("finally", step)', "os.kill(os.getpid(), signal.SIGINT)")
    assert gradtool("why", model(text)).code == 130


@pytest.mark.usefixtures("folder")
def test_python_programs_keep_their_ctrl_c(model: Write, template: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        gradtool.load(model(template.format(then=CTRL_C)))


@pytest.mark.parametrize("wrong", ["0", "-1", "soon"])
def test_a_limit_is_a_number_of_seconds(gradtool: Run, model: Write, wrong: str) -> None:
    assert gradtool("why", model(EAGER.format(then="pass")), "--limit", wrong).code == 2


def test_files_are_written_whole(gradtool: Run, model: Write, folder: Path, template: str) -> None:
    gradtool("why", model(template.format(then=CTRL_C)), "--write")
    assert (folder / "log.txt").read_text() == "3"
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".gradtool")]


def test_what_traces_goes_on_tracing(gradtool: Run, model: Write) -> None:
    before = sys.gettrace()
    gradtool("why", model(PRESSES + EAGER.format(then=IN_GRADTOOL)))
    assert sys.gettrace() is before
