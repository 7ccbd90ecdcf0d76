"""Asking changes nothing of the user's: what a script writes is there for its own run, and gone afterwards."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

import gradtool
from tests.cli.conftest import Run, Write

EAGER = """
import os
import paddle

os.makedirs("ckpt", exist_ok=True)
net = paddle.nn.Linear(3, 2)
opt = paddle.optimizer.Adam(parameters=net.parameters())
if os.path.exists("ckpt/best.pdparams"):
    net.set_state_dict(paddle.load("ckpt/best.pdparams"))
    opt.set_state_dict(paddle.load("ckpt/best.pdopt"))
best = float("inf")
try:
    for epoch in range(4):
        loss = net(paddle.ones([4, 3])).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        if float(loss) < best:
            best = float(loss)
            paddle.save(net.state_dict(), "ckpt/best.pdparams")
            paddle.save(opt.state_dict(), "ckpt/best.pdopt")
finally:
    with open("log.txt", "a") as log:
        log.write(f"{epoch}")
assert os.path.exists("ckpt/best.pdparams") and sorted(os.listdir("ckpt")) == ["best.pdopt", "best.pdparams"]
net.set_state_dict(paddle.load("ckpt/best.pdparams"))
loss = net(paddle.ones([4, 3])).square().mean()
loss.backward()
"""
STATIC = """
import numpy as np
import os
import paddle
paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.static.nn.fc(x, 2, name="head")
loss = paddle.mean(h * h)
paddle.optimizer.SGD(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for step in range(3):
    exe.run(feed={"x": np.ones((4, 3), "float32")})
    paddle.static.save(paddle.static.default_main_program(), "ckpt/best")
paddle.static.save_inference_model("export/net", [x], [h], exe)
assert os.path.exists("ckpt/best.pdparams") and os.path.exists("export/net.pdmodel")
paddle.static.load(paddle.static.default_main_program(), "ckpt/best", exe)
with open("log.txt", "a") as log:
    log.write("3")
"""


@pytest.fixture(params=[EAGER, STATIC], ids=["eager", "static"])
def script(model: Write, request: pytest.FixtureRequest) -> str:
    return model(request.param)


def there(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


COMMANDS = ("backward", "why", "nan", "stats", "stats --memory", "stats --time", "gradcheck", "graph --text", "graph")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_changes_a_file(gradtool: Run, script: str, folder: Path, command: str) -> None:
    (folder / "log.txt").write_text("0")
    before = there(folder)
    done = gradtool(command, script)
    assert done.code == 0, done.err
    assert there(folder) == before
    assert done.err.count("model.py wrote ckpt/best.pdopt, ckpt/best.pdparams") == ("Adam" in Path(script).read_text())
    assert "only this run saw that; --write" in done.err
    assert not [p for p in folder.iterdir() if p.is_dir()]


def test_write_lets_them_be_written(gradtool: Run, script: str, folder: Path) -> None:
    done = gradtool("backward", script, "--write")
    assert done.code == 0
    assert "only this run" not in done.err
    assert (folder / "ckpt" / "best.pdparams").is_file()
    assert (folder / "log.txt").read_text() == "3"
    assert gradtool("backward", script).code == 0  # resumes from what is there
    assert (folder / "log.txt").read_text() == "3"
    assert "--write" in gradtool("backward", script, "--write").out.splitlines()[-1]


def test_python_asks_without_changing_a_file(script: str, folder: Path) -> None:
    before = there(folder)
    model = gradtool.load(script)
    model.backward()
    model.nan()
    assert there(folder) == before
    gradtool.load(script, write=True).stats()
    assert (folder / "log.txt").read_text() in ("33", "3")


def test_the_overlay_is_gone_afterwards(
    gradtool: Run, script: str, folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert gradtool("backward", script).code == 0
    (folder / script).write_text(Path(script).read_text() + "\nraise SystemError('no')\n")
    gradtool("backward", script)
    assert list(temporary.iterdir()) == []


def test_results_are_written(gradtool: Run, script: str, folder: Path) -> None:
    assert gradtool("backward", script, "-o", "result.txt").code == 0
    assert gradtool("graph", script, "-o", "net.svg").code == 0
    assert gradtool("graph", "--dump", "graphs", script).code == 0
    assert {"result.txt", "net.svg", "graphs"} <= {p.name for p in folder.iterdir()}


def test_many_files_are_counted(gradtool: Run, model: Write) -> None:
    text = "import os\nimport paddle\nos.remove('old.txt')\n"
    text += "for name in 'gfedcba':\n    paddle.save({}, f'{name}.pdparams')\n"
    path = model(text + "w = paddle.create_parameter([3], 'float32')\nloss = w.sum()\n")
    Path("old.txt").write_text("")
    done = gradtool("backward", path)
    assert "model.py wrote a.pdparams, b.pdparams, c.pdparams and 4 more files: only this run saw that" in done.err
    assert "model.py removed old.txt: only this run saw that; --write makes it so" in done.err
    assert gradtool("backward", path, "--quiet").err == ""


@pytest.mark.parametrize("end", ["pass", "raise OSError('full')", "loss.backward()\n    loss.backward()"])
def test_what_a_script_does_when_it_leaves_is_a_part_of_it(gradtool: Run, model: Write, folder: Path, end: str) -> None:
    text = "import atexit\nimport paddle\n@atexit.register\ndef last():\n    print('last')\n"
    text += (
        "    paddle.save({}, 'last.pdparams')\natexit.register(print, 'first', sep='')\natexit.register(len, 'not')\n"
    )
    text += "atexit.unregister(len)\natexit.register(lambda: 1 / 0)\n"
    text += "w = paddle.create_parameter([3], 'float32')\nloss = w.sum()\n"
    text += f"if __name__ == '__main__':\n    loss.backward()\n    {end}\n"
    done = gradtool("backward", "-m", model(text).removesuffix(".py"))
    assert "first\nlast\n" in done.err
    assert "wrote last.pdparams: only this run saw that" in done.err
    assert [p.name for p in folder.iterdir() if p.suffix == ".pdparams"] == []
    gradtool("backward", "-m", "model", "--write")
    assert (folder / "last.pdparams").exists()


def test_a_script_may_change_its_current_folder(gradtool: Run, model: Write, folder: Path) -> None:
    text = "import os\nimport paddle\nos.makedirs('runs/1')\nos.chdir('runs/1')\npaddle.save({'a': 1}, 'a.pdparams')\n"
    text += "assert paddle.load('../1/a.pdparams') == {'a': 1}\n"
    path = model(text + "w = paddle.create_parameter([3], 'float32')\nloss = w.sum()\n")
    done = gradtool("backward", path, "-o", "result.txt")
    assert done.code == 0, done.err
    assert sorted(p.name for p in folder.iterdir()) == ["model.py", "result.txt"]
    assert "model.py wrote runs/1/a.pdparams: only" in done.err


def test_byte_code_is_no_file_of_the_model(
    gradtool: Run, model: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python writes it where it imports, wherever it is told to."""
    (folder / "beside.py").write_text("rate = 0.1\n", encoding="utf-8")
    path = model("import paddle\nimport beside\nloss = (paddle.create_parameter([3], 'float32') * beside.rate).sum()\n")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for prefix in (None, str(folder / "code")):
        monkeypatch.setattr(sys, "pycache_prefix", prefix)
        done = gradtool("backward", path)
        assert (done.code, done.err) == (0, "")
