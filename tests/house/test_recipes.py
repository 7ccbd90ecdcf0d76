"""Every recipe of CONTRIBUTING.md works as it is written: nothing but its own text is added to the package."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import gradtool
from tests.house.recipes import Copy, recipes
from tests.sampling import sampled

GENERATED = Path(__file__).parents[1] / "ops"
"""What is generated from the samples of every operator."""

MODEL = """
import paddle

x = paddle.to_tensor([3.0, 0.0], stop_gradient=False)
y = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
loss = (x * y).sum()
"""

CURVE = """
import numpy as np
from gradtool import paddle

paddle.enable_static()
x = paddle.static.data("x", [None, 3], "float64")
x.stop_gradient = False
y = paddle.lorentzian(x, height=1.5, width=0.5)
(first,) = paddle.static.gradients(y, x)
(second,) = paddle.static.gradients(first, x)
types = {o.type for o in y.block.ops}
assert {"lorentzian", "lorentzian_grad", "lorentzian_grad_grad"} <= types, types

values = np.random.default_rng(0).normal(size=(4, 3))
out, slope, bend = paddle.static.Executor().run(feed={"x": values}, fetch_list=[y, first, second])
s = 1 + 4 * values**2
np.testing.assert_allclose(out, 1.5 / s)
np.testing.assert_allclose(slope, -12 * values / s**2)
np.testing.assert_allclose(bend, (144 * values**2 - 12) / s**3)
"""


OPERATORS = """[
    {"op": "data", "makes": "x", "shape": [2, 3]},
    {"op": "parameter", "makes": "w", "shape": [3, 4]},
    {"op": "parameter", "makes": "b", "shape": [4]},
    {"op": "matmul", "reads": ["x", "w"], "makes": "h"},
    {"op": "tanh", "reads": ["h"], "makes": "a"},
    {"op": "sum", "reads": ["a"], "makes": "loss"}
]"""


PICTURE = """
from gradtool import paddle
from gradtool import viz

viz.graph((paddle.ones([2]) * 2).sum()).save("own.edges")
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the installed package, as it is, with its byte code: files and code keep their times."""
    folder = tmp_path_factory.mktemp("recipes") / "as_it_is"
    package = Path(gradtool.__file__).parent
    shutil.copytree(package, folder / "gradtool")
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Copy:
    """A copy for one recipe, with a model in it."""
    shutil.copytree(whole, tmp_path / "copy")
    (tmp_path / "copy" / "model.py").write_text(MODEL, encoding="utf-8")
    return Copy(tmp_path / "copy")


def test_an_operator(copy: Copy) -> None:
    copy.follow("An operator")
    copy.run("python", "-c", CURVE)
    assert "lorentzian" in copy.run("gradtool", "explain", "lorentzian")
    files = [
        str(GENERATED / f"test_op_{name}.py") for name in ("definitions", "forward", "gradients", "programs", "shapes")
    ]
    done = copy.run("python", "-m", "pytest", "-q", "-k", "lorentzian", "--rootdir", str(copy.folder), *files)
    assert " passed" in done.splitlines()[-1]


def test_an_output_form(copy: Copy) -> None:
    copy.follow("An output form")
    copy.run("gradtool", "graph", "model.py", "-o", "net.edges")
    lines = (copy.folder / "net.edges").read_text(encoding="utf-8").splitlines()
    assert "elementwise_mul.0\treduce_sum.0\telementwise_mul.0" in lines
    assert "edges" in copy.run("gradtool", "graph", "--help")
    copy.run("gradtool", "graph", "model.py", "--format", "edges")
    copy.run("python", "-c", PICTURE)
    assert (copy.folder / "own.edges").exists()


def test_a_rule_of_the_gate(copy: Copy) -> None:
    copy.follow("A rule of the gate")
    assert "huge-parameter" in copy.run("gradtool", "explain", "--rules")
    assert "Linear(2048, 1024)" in copy.run("gradtool", "explain", "GT590")
    (copy.folder / "wide.py").write_text(rule_example("wrong"), encoding="utf-8")
    told = copy.run("gradtool", "check", "wide.py", "--format", "concise")
    assert "GT590 net.weight has 2097152 elements" in told
    (copy.folder / "narrow.py").write_text(rule_example("right"), encoding="utf-8")
    assert "No findings" in copy.run("gradtool", "check", "narrow.py")


def rule_example(side: str) -> str:
    """One of the models that the recipe writes down."""
    return recipes()["A rule of the gate"].partition(f'{side}="""\\\n')[2].partition('"""')[0]


STEP = """
import paddle

net = paddle.nn.Linear(4, 3)
loss = paddle.floor(net(paddle.rand([8, 4]))).mean()
loss.backward()
"""


def test_a_verdict(copy: Copy) -> None:
    before = copy.contents()
    copy.follow("A verdict")
    (copy.folder / "step.py").write_text(STEP, encoding="utf-8")
    after = copy.contents()
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert len(changed) <= 3, changed
    told = copy.run("gradtool", "why", "net.weight", "step.py")
    assert "verdict: ZERO: CONSTANT BETWEEN STEPS" in told
    assert "try  let the gradient pass straight through" in told
    assert '"step"' in (copy.folder / "gradtool/cli/schemas/why.json").read_text(encoding="utf-8")
    assert "GT205" in copy.run("gradtool", "check", "step.py", "--format", "concise", "--exit-zero")


def test_a_command(copy: Copy) -> None:
    copy.follow("A command")
    assert "Count the operators of a model by their types." in copy.run("gradtool", "--help")
    assert "\n elementwise_mul       1\n" in copy.run("gradtool", "count", "model.py")
    assert '"elementwise_mul_grad": 1' in copy.run("gradtool", "count", "model.py", "--format", "json")


def test_an_importer(copy: Copy) -> None:
    copy.follow("An importer")
    (copy.folder / "net.ops.json").write_text(OPERATORS, encoding="utf-8")
    table = copy.run("gradtool", "backward", "net.ops.json", "--run")
    assert "1 of 2 parameters gets a gradient" in table or "1 of 2 parameters get a gradient" in table
    assert "UNUSED" in copy.run("gradtool", "why", "b", "net.ops.json")
    copy.run("gradtool", "graph", "net.ops.json", "-o", "net.svg")
    assert "tanh_grad" in (copy.folder / "net.svg").read_text(encoding="utf-8")
    (copy.folder / "way.gdt").write_text("step\nlist\n", encoding="utf-8")
    assert "tanh_grad.0" in copy.run("gradtool", "debug", "net.ops.json", "--batch", "-x", "way.gdt")
    commands = ["gradients", "graph --text", "stats", "nan", "stats --memory", "stats --time", "gradcheck"]
    for command in sampled(commands, str, one_in=4):
        copy.run("gradtool", *command.split(), "net.ops.json")
    copy.run("python", "-c", "import gradtool; assert gradtool.load('net.ops.json').why('w')[0].verdict.name == 'OK'")


def test_a_verb_of_the_debugger(copy: Copy) -> None:
    copy.follow("A verb of the debugger")
    (copy.folder / "way.gdt").write_text("finish\nangle x y\nexpect-error angle x\nhelp angle\n", encoding="utf-8")
    said = copy.run("gradtool", "debug", "model.py", "--batch", "-x", "way.gdt")
    assert "45.0°" in said
    assert "expected two tensors." in said
    assert "The angle between two tensors of one shape, in degrees." in said


@pytest.mark.parametrize("heading", recipes())
def test_every_recipe_is_followed_by_a_test(heading: str) -> None:
    uses = (f'follow("{heading}")', f'recipes()["{heading}"]')
    texts = [file.read_text(encoding="utf-8") for file in GENERATED.parent.rglob("test_*.py")]
    assert [text for text in texts if uses[0] in text or uses[1] in text], "tests/house/recipes.py says how"
