"""A cause is shown or it is not named: numbers that left the graph and came back, and those that did not."""

import textwrap

import pytest

from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import source
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

BEFORE = """\
import numpy as np
import paddle

paddle.seed(1)
w = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(0.7))
v = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(0.3))
x = paddle.to_tensor([1.0, 2.0, 3.0])
"""

GOES_NOWHERE = {
    "printed": "print((w * x).sum().item())\nloss = (v * x).sum()\n",
    "printed on the line of the loss": "print((w * x).sum().item()); loss = (v * x).sum()\n",
    "a text": "text = f'{(w * x).sum().item():.3f}'\nloss = (v * x).sum()\nprint(text, loss)\n",
    "a list for logging": "log = []\nlog.append((w * x).sum().item())\nloss = (v * x).sum()\n",
    "a running average": "mean = 0.0\nfor _ in range(3):\n    mean = 0.9 * mean + 0.1 * (w * x).sum().item()\n"
    "    loss = (v * x).sum()\n",
    "a decision": "scale = 1.0\nif (w * x).sum().item() > 1:\n    scale = 2.0\nloss = (v * x).sum() * scale\n",
    "a choice in an expression": "loss = (v * x).sum() * (2.0 if (w * x).sum().item() > 1 else 1.0)\n",
    "a loop that waits": "while (w * x).sum().item() < 0:\n    pass\nloss = (v * x).sum()\n",
    "metrics in NumPy": "h = (w * x).numpy()\nright = float((h > 1).mean())\nloss = (v * x).sum()\nprint(right)\n",
    "argmax for accuracy": "right = 0\nright += int(((w * x).argmax() == 2).astype('int32'))\nloss = (v * x).sum()\n",
    "tolist": "rows = (w * x).tolist()\nprint(max(rows))\nloss = (v * x).sum()\n",
    "data made afterwards": "print((w * x).numpy())\nloss = (v * paddle.to_tensor([1.0, 1.0, 1.0])).sum()\n",
}

COMES_BACK = {
    "in the line of the loss": ("loss = (v * x).sum() + (w * x).sum().item()\n", 8),
    "under a name": ("penalty = (w * x).sum().item()\nloss = (v * x).sum() + penalty\n", 8),
    "changed": ("penalty = (w * x).sum().item()\npart = 0.1 * penalty\nloss = (v * x).sum() + part\n", 8),
    "through a list": ("parts = []\nparts.append((w * x).sum().item())\nloss = (v * x).sum() + sum(parts)\n", 9),
    "through float": ("penalty = float((w * x).sum())\nloss = (v * x).sum() + penalty\n", 8),
    "through NumPy": ("h = np.exp((w * x).numpy())\nloss = (v * paddle.to_tensor(h)).sum()\n", 8),
    "through tolist": ("h = (w * x).tolist()\nloss = (v * paddle.to_tensor(h)).sum()\n", 8),
    "from a function": ("def penalty():\n    return (w * x).sum().item()\n\nloss = (v * x).sum() + penalty()\n", 9),
    "in a loop": ("loss = (v * x).sum()\nfor p in [w]:\n    loss = loss + (p * p).sum().item()\n", 10),
    "in a comprehension": ("loss = (v * x).sum() + sum(p.item() for p in w * x)\n", 8),
    "in a comprehension, to a tensor": (
        "loss = (v * x).sum() * paddle.to_tensor(sum(p.item() for p in w * x) / 8)\n",
        8,
    ),
    "row by row": ("loss = (v * x).sum()\nfor n in (w * x).tolist():\n    loss = loss + n\n", 9),
}


def about(tmp_path, text):
    """The answer about ``w`` of a script that begins as BEFORE says and takes a step."""
    script = tmp_path / "script.py"
    script.write_text(f"{BEFORE}{textwrap.dedent(text)}loss.backward()\n", encoding="utf-8")
    return next(iter(Why(variables=("w",)).ask(Request(str(script)))))


@pytest.mark.parametrize("what", GOES_NOWHERE)
def test_a_number_that_goes_nowhere_is_no_cut(what, tmp_path, capsys):
    answer = about(tmp_path, GOES_NOWHERE[what])
    assert answer.verdict in (Verdict.NO_PATH, Verdict.UNUSED), str(answer)
    assert "plain values" not in str(answer)


@pytest.mark.parametrize("what", COMES_BACK)
def test_a_number_that_comes_back_is_a_cut(what, tmp_path):
    text, line = COMES_BACK[what]
    answer = about(tmp_path, text)
    assert answer.verdict is Verdict.DETACHED, str(answer)
    assert answer.location[0][1] == line, str(answer)


PACKAGE = """\
def frozen(layer, x):
    return layer(x).detach()
"""


@pytest.mark.usefixtures("own_modules")
def test_the_line_is_the_users_and_that_of_a_package_stands_second(tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "package").mkdir(parents=True)
    (site / "package" / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(source, "_package_folders", lambda: (f"{site}/",))
    source.is_installed.cache_clear()
    script = tmp_path / "script.py"
    script.write_text(
        "import paddle\nimport package\n\nbody, head = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 1)\n"
        "h = package.frozen(body, paddle.ones([2, 3]))\nloss = head(h).mean()\nloss.backward()\n",
        encoding="utf-8",
    )
    try:
        (answer,) = [a for a in Why().ask(Request(str(script))) if a.finding]
    finally:
        source.is_installed.cache_clear()
    assert (answer.source.path, answer.source.line) == (str(script), 5)
    assert "  inside package/__init__.py:2" in answer.lines()
