"""The plugin of pytest, run on test files as people write them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot

from gradtool.cli.main import main

pytest_plugins = ["pytester"]

NET = """\
import pytest

from gradtool import paddle
import gradtool.paddle.nn.functional as F
from gradtool.testing import (
    assert_all_parameters_get_gradients,
    assert_gradcheck,
    assert_graph_matches,
    assert_no_nan,
)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.spare = (paddle.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        return self.head(self.body(x).detach())


@pytest.fixture
def net():
    return Net()


x = paddle.ones([2, 4])
"""

CLAIMS = (
    NET
    + """

def test_detached(net, gradients):
    loss = net(x).square().mean()
    gradients.assert_all_parameters_get_gradients(loss)


def test_after_backward_and_by_import(net):
    loss = net(x).square().mean()
    loss.backward()
    assert_all_parameters_get_gradients(loss, except_=["net.spare.*", "net.body.bias"])


def computed():
    return Net()(x).mean()


def test_function():
    assert_all_parameters_get_gradients(computed, except_="*spare*")


def test_no_such_parameter(net):
    assert_all_parameters_get_gradients(net(x).mean(), except_="net.spre.*")


def test_born_forward():
    w = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    assert_no_nan((paddle.log(w) * w).sum())


def test_born_backward():
    w = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    loss = paddle.sqrt(w).sum()
    loss.backward()
    assert_no_nan(loss)


class Square(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * x


def test_gradcheck():
    w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    assert_gradcheck(Square.apply, w)


def test_kink():
    w = paddle.to_tensor([0.0, 2.0], stop_gradient=False)
    assert_gradcheck(F.relu, w, unchecked=True)
    assert_gradcheck(F.relu, w)


def test_static():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            data = paddle.static.data("data", [None, 3])
            h = paddle.static.nn.fc(data, 4, name="first")
            cost = paddle.mean(h + paddle.static.nn.fc(h, 4, name="second").detach())
            assert_all_parameters_get_gradients(cost, except_="second.*")
            assert_all_parameters_get_gradients(cost)
    finally:
        paddle.disable_static()


early = (paddle.create_parameter([2], "float32") * 2).sum()


def test_before():
    assert_no_nan(early)
"""
)

SAID = {
    "test_detached": [
        ">       gradients.assert_all_parameters_get_gradients(loss)",
        "E       AssertionError: 4 of 6 parameters without a gradient to learn from",
        "E       net.body.weight   grad = None   verdict: DETACHED",
        "E         test_claims.py:19    return self.head(self.body(x).detach())",
        "E         try  remove the detach*",
        "E         the same holds for 1 more: net.body.bias",
        "E       net.spare.weight   grad = None   verdict: UNUSED IN FORWARD",
    ],
    "test_after_backward_and_by_import": [
        "E       AssertionError: 1 of 6 parameters without a gradient to learn from",
        "E       net.body.weight   grad = None   verdict: DETACHED",
    ],
    "test_function": [
        "E       AssertionError: 2 of 6 parameters without a gradient to learn from",
        "E       Net.__init__.body.weight   grad = None   verdict: DETACHED",
    ],
    "test_no_such_parameter": [
        "E       *UsageError: assert_all_parameters_get_gradients: unknown parameters for except_: 'net.spre.[*]'.",
        "E         hint  closest: net.spare.bias*",
    ],
    "test_born_forward": ["E       BIRTH  forward  log.0 * inf 1/2   test_claims.py:*   assert_no_nan*"],
    "test_born_backward": ["E       BIRTH  backward  sqrt_grad.0 * inf 1/2   test_claims.py:*"],
    "test_gradcheck": [
        "E       AssertionError: of 1 gradient: 1 wrong",
        "E         wrong by a factor of 1/2*",
    ],
    "test_kink": ["E       AssertionError: of 1 gradient: 1 not checked"],
    "test_before": ["E       *UsageError: nothing is known of the tensor*", "E         hint  compute it in a test*"],
    "test_static": [
        "E * AssertionError: 2 of 4 parameters without a gradient to learn from",
        "E * second.w_0   grad = None   verdict: DETACHED",
    ],
}


@pytest.fixture
def inner(pytester: pytest.Pytester, dynamic: None, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Runs of pytest in this process: what they import of gradtool stays imported, and there once."""
    kept = SysModulesSnapshot(preserve=lambda name: not name.startswith("test_"))
    monkeypatch.setattr(pytester, "_Pytester__take_sys_modules_snapshot", lambda: kept)
    monkeypatch.setattr(pytester, "_sys_modules_snapshot", kept)
    monkeypatch.setenv("GRADTOOL_CHECK_JOBS", "0")  # models are checked in this process
    return pytester


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """The exit code of ``gradtool check``, and the files that it finds something in."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["check", *words, "--format", "concise"])
    assert isinstance(left.value.code, int)
    return left.value.code, [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()[:-1]]


def run(inner: pytest.Pytester, *words: str) -> pytest.RunResult:
    return inner.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *words)


def sections(result: pytest.RunResult) -> dict[str, list[str]]:
    """The name of a test -> what is said of its failure."""
    said: dict[str, list[str]] = {}
    name = ""
    for line in result.outlines:
        if line.startswith("____") and line.endswith("____"):
            name = line.strip("_ ")
        said.setdefault(name, []).append(line)
    return said


def test_claims_that_do_not_hold_name_the_cut_and_the_line(inner: pytest.Pytester) -> None:
    inner.makepyfile(test_claims=CLAIMS)
    result = run(inner)
    result.assert_outcomes(failed=len(SAID))
    said = sections(result)
    for name, lines in SAID.items():
        pytest.LineMatcher(said[name]).fnmatch_lines(lines)
        # The traceback ends in the test.
        assert not [line for line in said[name] if "gradtool/" in line or "gradtool\\" in line], name


def test_claims_that_hold_say_nothing(inner: pytest.Pytester) -> None:
    inner.makepyfile(
        test_right=NET
        + """

def test_right(net, gradients):
    other = Net()
    loss = net(x).square().mean()
    other(x)  # has nothing to do with the loss
    gradients.assert_all_parameters_get_gradients(loss, except_=["net.spare.*", "layer:body"])
    gradients.assert_no_nan(loss)
    assert not gradients.why(loss, "net.head.weight")[0].finding
    assert gradients.backward(loss).gradient_count == 2
    assert {line.name for line in gradients.stats(loss).story.parameters} >= {"net.head.weight"}
    assert net.head.weight.grad is None


def test_zero(net):
    loss = (net.head(x) * 0).mean()
    assert_all_parameters_get_gradients(loss, except_=["net.spare.*", "net.body.*"], zero=True)


def test_frozen(net):
    for p in (*net.body.parameters(), *net.spare.parameters()):
        p.stop_gradient = True
    assert_all_parameters_get_gradients(net(x).mean())


def test_gradcheck(net):
    assert_gradcheck(lambda: net(x).square().mean())
    assert_gradcheck(F.tanh, paddle.to_tensor([0.5], stop_gradient=False), order=2)
"""
    )
    run(inner).assert_outcomes(passed=4)


def test_marked_tests_are_checked_with_the_rules(inner: pytest.Pytester) -> None:
    inner.makepyfile(
        test_marked=NET
        + """

@pytest.mark.gradtool(select="GT1")
def test_detached(net):
    net(x).mean().backward()


@pytest.mark.gradtool(ignore=["GT103", "unused-parameter"])
def test_ignored(net):
    net(x).mean().backward()


@pytest.mark.gradtool(select="GT101", fail_on="warning")
def test_warning(net):
    net(x).mean().backward()


@pytest.mark.gradtool(select="GT9", fail_on="note")
def test_two_losses(net):
    for step in range(2):
        first = net(x).sum()
        first.backward()
        last = net(x).mean()
        last.backward()


@pytest.mark.gradtool
def test_nothing(net):
    net(x)


@pytest.mark.gradtool(select="GT501")
def test_asks_for_a_run(net):
    net(x).mean().backward()


@pytest.mark.gradtool(selct="GT1")
def test_misspelt(net):
    net(x).mean().backward()


@pytest.mark.gradtool
def test_raises(net):
    raise ValueError("its own")
"""
    )
    result = run(inner, "--strict-markers")
    result.assert_outcomes(failed=7, passed=1)
    said = sections(result)
    pytest.LineMatcher(said["test_detached"]).fnmatch_lines(
        [
            "GT101 unused-parameter · warning: net.spare.weight has grad = None: unused in forward",
            "GT103 detached · error: net.body.weight has grad = None: detached",
            "  --> test_marked.py:19:9",
            "  try  remove the detach*",
            "Found 1 error and 1 warning in 1 model.",
        ]
    )
    pytest.LineMatcher(said["test_warning"]).fnmatch_lines(["Found 1 warning in 1 model."])
    pytest.LineMatcher(said["test_two_losses"]).fnmatch_lines(
        ["GT901 not-checked · note: the gradients of first: looked at is the last backward pass of a test"]
    )
    pytest.LineMatcher(said["test_nothing"]).fnmatch_lines(["gradtool: the test ran no backward pass*"])
    pytest.LineMatcher(said["test_misspelt"]).fnmatch_lines(["gradtool: the marker gradtool does not take selct"])
    pytest.LineMatcher(said["test_asks_for_a_run"]).fnmatch_lines(["gradtool: GT501 cannot be applied to a test*"])
    pytest.LineMatcher(said["test_raises"]).fnmatch_lines(["E       ValueError: its own"])


GRAPH = (
    NET
    + """

def test_graph(net):
    h = net(x)
    assert_graph_matches(h.mean(), "net.gt.txt")
"""
)


def test_graphs_are_kept_as_text(inner: pytest.Pytester) -> None:
    file = Path(inner.makepyfile(test_graph=GRAPH))
    result = run(inner)
    result.stdout.fnmatch_lines(
        ["E*there is no net.gt.txt to compare the graph with: pytest --gradtool-update writes it"]
    )

    result = run(inner, "--gradtool-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["wrote net.gt.txt"])
    kept = (inner.path / "net.gt.txt").read_text(encoding="utf-8")
    assert "parameter net.head.weight float32[4, 4] ok" in kept
    assert "test_graph" not in kept  # moved lines are no change

    file.write_text("# a line more\n" + GRAPH, encoding="utf-8")
    run(inner).assert_outcomes(passed=1)

    file.write_text(GRAPH.replace("h = net(x)", "h = F.relu(net(x))"), encoding="utf-8")
    result = run(inner)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E       AssertionError: the graph is not that of net.gt.txt",
            "E * relu.0 added *test_graph.py:*",
            "E       if this is meant: pytest --gradtool-update",
        ]
    )
    assert (inner.path / "net.gt.txt").read_text(encoding="utf-8") == kept


MODEL = """\
# gradtool: model
import paddle

net = paddle.nn.Linear(4, 1)
loss = net(paddle.ones([2, 4])).mean()
loss.backward()
"""


BUILT = """\
import paddle

def build(factor=1.0):
    net = paddle.nn.Linear(4, 1)
    return (net(paddle.ones([2, 4])) * factor).mean()
"""


def test_model_files_are_tests(inner: pytest.Pytester) -> None:
    inner.makepyfile(
        marked=MODEL,
        unmarked=MODEL.replace("# gradtool: model", "raise SystemExit(1)"),
        test_plain="def test_plain():\n    pass\n",
    )
    wrong = MODEL.replace("# gradtool: model\n", "").replace(".mean()", ".detach().mean() + net.bias.sum()")
    (inner.path / "wrong.py").write_text(wrong, encoding="utf-8")
    # Without the option nothing is collected but tests.
    run(inner).assert_outcomes(passed=1)
    # In a folder, what says that it is a model.
    result = run(inner, "--gradtool", "-v", ".")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["marked.py::gradtool PASSED*"])
    # A file that is named is one, and is not imported as a test.
    result = run(inner, "--gradtool", "wrong.py", "test_plain.py")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*gradtool check wrong.py*",
            "GT103 detached · error: net.weight has grad = None: detached",
            "  --> wrong.py:4:*",
            "Found 1 error in 1 model.",
        ]
    )
    assert not [line for line in result.outlines if "Traceback" in line or "runtest" in line]
    run(inner, "--gradtool", "--gradtool-ignore", "GT103", "wrong.py").assert_outcomes(passed=1)
    # So is one that is no Python; that this holds nothing, the checking says.
    (inner.path / "net.torchrun").write_bytes(b"")
    run(inner, "--gradtool", "net.torchrun").assert_outcomes(failed=1)


def test_a_test_of_a_model_has_the_verdict_of_check(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thresholds, severities, arguments of models, waivers and a baseline: as ``gradtool check`` reads them."""
    inner.makefile(
        ".toml",
        gradtool="""\
            [check]
            baseline = "known.json"
            [severities]
            GT203 = "error"
            [thresholds.GT203]
            norm = 1e3
            [[models]]
            target = "models/built.py:build"
            arg = ["factor=1e4"]
            [[models]]
            target = "models/built.py:build"
            name = "small"
            [[models]]
            target = "models/known.py"
            """,
    )
    inner.makeini("[pytest]\ntestpaths = tests\n")
    cut = MODEL.replace("# gradtool: model\n", "").replace(".mean()", ".detach().mean() + net.bias.sum()")
    for file, text in {
        "tests/test_plain.py": "def test_plain():\n    pass\n",
        "tests/waived.py": "# gradtool: model\n"
        + cut.replace(" + net", "  # gradtool: ignore[GT103] meant\nloss += net"),
        "models/built.py": BUILT,
        "models/known.py": cut,
    }.items():
        (inner.path / file).parent.mkdir(exist_ok=True)
        (inner.path / file).write_text(text, encoding="utf-8")
    monkeypatch.chdir(inner.path)
    assert check(capsys, "--baseline", "known.json", "--write-baseline", "models/known.py") == (0, [])
    result = run(inner, "--gradtool", "-v")
    result.assert_outcomes(passed=4, failed=1)
    told = [line.split(" ")[0] for line in result.outlines if " PASSED" in line or " FAILED" in line]
    # What is configured is found outside of what is collected, too.
    assert told == [
        "tests/test_plain.py::test_plain",
        "tests/waived.py::gradtool",
        "models/built.py::gradtool[models/built.py:build]",
        "models/built.py::gradtool[small]",
        "models/known.py::gradtool",
    ]
    result.stdout.fnmatch_lines(["GT203 large-gradient · error: *", "FAILED models/built.py::*models/built.py:build]*"])
    assert check(capsys, ".") == (1, ["models/built.py"])
    # Command line and environment are stronger than the file.
    run(inner, "--gradtool", "--gradtool-ignore", "GT203").assert_outcomes(passed=5)
    monkeypatch.setenv("GRADTOOL_CHECK_EXIT_ZERO", "1")
    run(inner, "--gradtool").assert_outcomes(passed=5)


def test_a_model_that_ends_its_process_ends_no_test_run(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADTOOL_CHECK_JOBS")
    inner.makepyfile(ends=MODEL + "import os\nos._exit(3)\n")
    result = run(inner, "--gradtool", "ends.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["GT904 crashed · error: the process that ends.py ran in ended with exit code 3"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[check]\nselct = []", "gradtool.toml:2: check.selct: unknown option (closest: select"),
        ("[check]\nupdate = true", "gradtool.toml:2: check.update: it has golden files overwritten"),
        ("[check]\nbaseline = 'no.json'", "no such baseline: no.json"),
    ],
)
def test_settings_that_say_what_they_cannot_end_the_run(inner: pytest.Pytester, text: str, message: str) -> None:
    inner.makefile(".toml", gradtool=text)
    inner.makepyfile(marked=MODEL)
    result = run(inner, "--gradtool")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *gradtool: {message.replace('[', '[[]')}*"])


def test_the_plugin_costs_nothing_where_it_is_not_used() -> None:
    code = (
        "import sys, pytest; before = {*sys.modules}; import gradtool.cli.testing.plugin; "
        "print(*sorted({*sys.modules} - before))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == [
        "gradtool",
        "gradtool.cli",
        "gradtool.cli.testing",
        "gradtool.cli.testing.plugin",
    ]


def test_the_plugin_is_loaded_by_pytest_itself(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.hasplugin("gradtool")
