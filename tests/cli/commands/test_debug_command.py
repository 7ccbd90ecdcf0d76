"""``gradtool debug``: options, exit codes, and where verbs come from."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Write

BROKEN = """\
import paddle
x = paddle.to_tensor([0.0, 4.0, 9.0], stop_gradient=False)
h = x * 1.0
loss = paddle.sqrt(h).sum()
"""


@pytest.fixture
def verbs(folder: Path) -> Write:
    """``verbs(text)`` is the name of a file of verbs."""

    def write(text: str) -> str:
        (folder / "hunt.gdt").write_text(text, encoding="utf-8")
        return "hunt.gdt"

    return write


def test_a_catch_that_fires_in_a_batch(gradtool: Run, model: Write, verbs: Write) -> None:
    done = gradtool("debug", model(BROKEN), "--catch", "nan", "--batch", "-x", verbs("# the hunt\n\ncontinue\n"))
    assert done.code == 1
    assert "■ catch inf at ▶ 5/6 sqrt_grad.0   model.py:4" in done.out
    assert done.err == ""


@pytest.mark.parametrize(("text", "code"), [(BROKEN, 1), (BROKEN.replace("[0.0", "[1.0"), 0)])
def test_a_batch_with_a_catch_and_no_verbs_goes_on_by_itself(
    gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch, text: str, code: int
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done = gradtool("debug", model(text), "-q", "--catch", "inf", "--batch")
    assert (done.code, done.err) == (code, "")
    assert ("■ catch inf at ▶ 5/6 sqrt_grad.0   model.py:4" in done.out) == bool(code)


POISONED = """\
import paddle
w = paddle.to_tensor([1.0], stop_gradient=False)
x = paddle.to_tensor([float("VALUE")])
y = w * x
loss = (y - y).sum() if y.item() > 0 else paddle.nn.functional.softmax(paddle.stack([y, w])).sum()
"""


@pytest.mark.parametrize(
    ("value", "said", "code"),
    [
        ("nan", "■ catch nan in x, there before the run at ▶ 1/", 1),
        ("inf", "■ catch nan at ▶ 2/6 elementwise_sub.0", 1),
        ("-inf", "■ end of the run · 1 of 1 gradients · 1 NaN", 1),
    ],
)
def test_a_catch_sees_what_was_wrong_before_the_run(
    gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch, value: str, said: str, code: int
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done = gradtool("debug", model(POISONED.replace("VALUE", value)), "-q", "--catch", "nan", "--batch")
    assert (done.code, said in done.out) == (code, True)


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("goto %99", "%6 is the last: "),
        ("goto In[9]", "In[1] is the last"),
        ("until model.py:99", "the nearest are model.py:4, model.py:3"),
        ("goto sqrt_gra.0", "there is sqrt_grad.0"),
    ],
)
def test_a_place_that_does_not_exist_names_near_ones(
    gradtool: Run, model: Write, verbs: Write, line: str, near: str
) -> None:
    done = gradtool("debug", model(BROKEN), "-q", "--batch", "-x", verbs(line + "\n"))
    assert done.code == 2
    assert near in done.err


def test_a_batch_without_findings(gradtool: Run, model: Write, verbs: Write) -> None:
    done = gradtool("debug", model(), "-q", "--batch", "-x", verbs("finish\np my_fc.w_0@GRAD\n"))
    assert (done.code, done.err) == (0, "")
    assert "my_fc.w_0@GRAD 3328×1" in done.out


def test_verbs_from_stdin(gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("step\nnonsense words\nquit\nstep\n"))
    done = gradtool("debug", model(BROKEN))
    assert done.code == 0
    assert "▶ 5/6 sqrt_grad.0" in done.out
    assert "neither a verb nor Python" in done.out


def test_a_program_feeds_and_notes(gradtool: Run, model: Write, verbs: Write) -> None:
    done = gradtool("debug", model(), "--no-grad", "my_fc.b_0", "--batch", "-x", verbs("compare base base\n"))
    assert "--no-grad my_fc.b_0 matched my_fc.b_0" in done.err
    assert "feed: made at random (seed 0)" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--history", "lots"], "'lots' is no number of bytes"),
        (["--step", "0"], "0 is not in the range x>=1"),
        (["--catch", "wind"], "--catch: cannot catch 'wind'"),
        (["--on-error", "--step", "2"], "--on-error and --step exclude each other"),
        (["--backward", "1", "--step", "2"], "--step and --backward exclude each other"),
        (["-x", "missing.gdt", "--batch"], "cannot read missing.gdt: No such file or directory"),
        (["--feed", "f.npz"], "--feed works on static programs, and model.py works in dynamic mode"),
        (["--params", "nobody"], "unknown tensor for --params: 'nobody'"),
    ],
)
def test_wrong_use(gradtool: Run, model: Write, words: list[str], message: str) -> None:
    done = gradtool("debug", model(BROKEN), *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_model_on_stdin_leaves_none_for_verbs(gradtool: Run) -> None:
    done = gradtool("debug", "-")
    assert done.code == 2
    assert "the verbs are read from stdin, so the model cannot be" in done.err


def test_exit_codes_of_models_that_fail(gradtool: Run, model: Write, verbs: Write) -> None:
    file = model("import paddle\nloss = paddle.ones([2, 3]) @ paddle.ones([2, 3])\n")
    assert gradtool("debug", file).code == 4
    done = gradtool("debug", file, "--on-error", "--batch", "-x", verbs("list\n"))
    assert done.code == 0
    assert "▶!" in done.out
    assert gradtool("debug", model("raise ValueError\n")).code == 3
    sound = gradtool("debug", model(BROKEN), "--on-error", "--batch", "-x", verbs("list\n"))
    assert (sound.code, sound.err) == (0, "model.py raised no error\n")


def test_a_model_that_raises_names_the_post_mortem(gradtool: Run, model: Write) -> None:
    done = gradtool("debug", model("import paddle\nx = paddle.ones([2]) * 2\nx @ paddle.ones([3, 3])\n"))
    assert done.code == 4
    assert done.err.startswith("gradtool debug model.py --on-error begins where it failed\n")
    assert "--on-error" not in gradtool("debug", model("x = (\n")).err


PASSES = """\
import paddle
w = paddle.to_tensor([1.0], stop_gradient=False)
for step in range(60):
    x = paddle.to_tensor([1.0 + step], stop_gradient=False)
    (slope,) = paddle.grad((w * x).sum(), x)
    loss = (w * x).sum()
    loss.backward()
    w.clear_grad()
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backward", "6"], "x [1]  3"),
        (["--step", "6"], "x [1]  3"),
        (["--backward", "line:model.py:5"], "x [1]  60"),
        (["--step", "119"], "x [1]  60"),
    ],
)
def test_which_pass_is_gone_through(gradtool: Run, model: Write, verbs: Write, words: list[str], said: str) -> None:
    done = gradtool("debug", model(PASSES), *words, "--batch", "-x", verbs("p x\n"))
    assert (done.code, said.replace("[1]", "1") in done.out) == (0, True)


def test_a_batch_with_nothing_to_do_says_how_the_gradients_are(
    gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done = gradtool("debug", model(BROKEN), "--batch")
    assert (done.code, done.out.split("\n")[0][:28]) == (0, "1 of 1 gradients · 1 infinit")


def test_an_interrupted_model(gradtool: Run, model: Write) -> None:
    assert gradtool("debug", model("raise KeyboardInterrupt\n")).code == 130


def test_ctrl_c_in_a_cell_comes_back_to_the_prompt(
    gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("! (_ for _ in ()).throw(KeyboardInterrupt)\nstep\n"))
    done = gradtool("debug", model(BROKEN))
    assert done.code == 0
    assert "interrupted" in done.out
    assert "▶ 5/6 sqrt_grad.0" in done.out
