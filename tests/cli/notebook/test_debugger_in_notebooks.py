"""The debugger's magics in a real kernel: one notebook, executed once, and what its cells show."""

from __future__ import annotations

import re

import pytest
from nbformat import NotebookNode

from gradtool.viz.debugger import verbs
from tests.notebooks import bundle, execute, failure, notebook, printed

FILE = """\
import gradtool
from gradtool import paddle
w = paddle.to_tensor([0.0, 4.0], stop_gradient=False)

def stop(g):
    import paddle
    gradtool.breakpoint()

root = paddle.sqrt(w)
root.register_hook(stop)
loss = root.sum()
"""

STATIC = """\
paddle.enable_static()
x = paddle.static.data("x", [None, 3])
cost = paddle.mean(paddle.static.nn.fc(x, 1, name="a"))
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
exe.run(feed={"x": [[1.0, 2.0, 3.0]]}, fetch_list=[cost])
operators = [op.type for op in paddle.static.default_main_program().global_block().ops]"""

RULE = """\
%%gradtool debug
import paddle
class Twice(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        import paddle
        return g * 2 + paddle.rand([]) * 0
y = paddle.to_tensor(3.0, stop_gradient=False)
t = Twice.apply(y)
ruled = t * 3"""

CELLS = {
    "names": "before = {k: dict(v) for k, v in get_ipython().magics_manager.magics.items()}",
    "taken": "get_ipython().register_magic_function(lambda line: f'mine {line}', 'line', 'ghits')",
    "load": "%load_ext gradtool",
    "none": "%gstep",
    "model": "from gradtool import paddle\nw = paddle.to_tensor([0.0, 4.0], stop_gradient=False)\n"
    "h = paddle.sqrt(w)\nloss = (h * 2).sum()\nloss.backward()",
    "open": "d = %gdebug loss --catch inf\nd",
    "step": "%gstep",
    "alias": "%gs",
    "value": 'd.v["loss"].tolist(), d.v["w@GRAD"].tolist(), d.cur.name, sorted(d.ins), sorted(d.outs), d.dout.tolist()',
    "where": "d",
    "line": '%g v["w"] + {"a": 1}["a"]',
    "python": "%%g\nn = 2\nfor i in range(n):\n    print(i, cur.type)\nn * 3",
    "kept": "sum_of = %g n + 5\nsum_of.value, sum_of.failed",
    "wrong": "%gp nothing",
    "raised": "%g 1 / 0",
    "goes_on": "%gback",
    "hyphen": "%gexpect-error p nothing",
    "expect": "found = %gexpect n == 3\nfound.failed",
    "catch": "%gcontinue",
    "graph": "%ggraph w",
    "note": "%gnote **here**",
    "mine": "%ghits",
    "any": "%g hits",
    "own": "%g p = 3",
    "own_verb": "%gp",
    "why": "%gwhy w",
    "quiet": "%g m = 1",
    "unchanged": "w.grad.tolist(), 'n' in globals()",
    "freed": "loss.backward()",
    "rebound": "loss = (w * 3).sum()",
    "asked": "%gwhy w",
    "quit": "%gquit",
    "over": "%gstep",
    "file": "%gdebug model.py",
    "file_step": "%gfinish",
    "cell": "%%gradtool debug --break op:scale_grad\nimport paddle\nk = paddle.to_tensor([1.0], stop_gradient=False)\n"
    "end = (k * 5).sum()",
    "cell_why": "%gwhy k",
    "cell_goes": "%gcontinue",
    "batch": "%gdebug model.py --batch",
    "stdin": "%gdebug -",
    "nothing": "%gdebug",
    "unknown": "%gdebug los",
    "onerror": "%gdebug loss --on-error",
    "save": "%gsave hunt.jsonl",
    "replay": "%gdebug --replay hunt.jsonl",
    "checked": "%gdebug --replay hunt.jsonl --check",
    "script": "%gdebug loss -x hunt.gdt",
    "static": STATIC,
    "program": "%gdebug cost",
    "moved": "%gnext",
    "same": "operators == [op.type for op in paddle.static.default_main_program().global_block().ops]",
    "rule": RULE,
    "drawn": "import gradtool.engine.core.state as s\nbefore_rule = str(s.random.position)",
    "edited": "%gset t@GRAD = np.array(5.0, 'float32')",
    "again": "end = %g v['y@GRAD']\nend.value.tolist(), paddle.in_dynamic_mode()",
    "kept_seed": "before_rule == str(s.random.position)",
    "help": "get_ipython().find_line_magic('gstep').__doc__",
    "unload": "%unload_ext gradtool",
    "alike": "after = get_ipython().magics_manager.magics\n"
    "{*after['line']} - {*before['line']}, {*after['cell']} - {*before['cell']}",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NotebookNode]:
    """The cells by name, executed."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "model.py").write_text(FILE, encoding="utf-8")
    (folder / "hunt.gdt").write_text("step\np w\n", encoding="utf-8")
    nb = execute(notebook(CELLS.values()), folder)
    return dict(zip(CELLS, nb.cells, strict=True))


def text(cell: NotebookNode) -> str:
    return bundle(cell)["text/plain"]


def test_a_session_begins_where_it_stands(shown: dict[str, NotebookNode]) -> None:
    gradients, _, begin = text(shown["open"]).partition("\n")
    assert gradients == "1 of 1 gradients · 1 infinite ✗ (catch nan and rc go back to where that began)"
    assert begin.startswith("▶ 4/6 reduce_sum_grad.0   In[5]:4")
    assert text(shown["step"]).startswith("▶ 5/6 scale_grad.0")
    assert text(shown["alias"]).startswith("▶ 6/6 sqrt_grad.0")
    assert text(shown["where"]) == text(shown["alias"])


def test_python_of_the_notebook_sees_the_session(shown: dict[str, NotebookNode]) -> None:
    assert text(shown["value"]) == (
        "([4.0], [inf, 0.5], 'sqrt_grad.0', ['Out', 'Out@GRAD'], ['X@GRAD'], [2.0, 2.0])".replace("[4.0]", "4.0")
    )
    assert text(shown["kept"]) == "(7, False)"
    assert text(shown["expect"]) == "True"
    assert text(shown["unchanged"]) == "([inf, 0.5], False)"


def test_python_of_the_session(shown: dict[str, NotebookNode]) -> None:
    assert text(shown["line"]) == "[1. 5.]"
    assert printed(shown["python"]) == "0 sqrt_grad\n1 sqrt_grad\n"
    assert text(shown["python"]) == "6"
    assert shown["quiet"].outputs == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", "error: no session of the debugger is open\n  hint  %gdebug LOSS or %gdebug model.py opens one"),
        ("wrong", "✗ there is no tensor 'nothing'."),
        ("raised", "✗ ZeroDivisionError: division by zero"),
        ("over", "error: no session of the debugger is open"),
        ("own_verb", "error: p is Python in this session, where p is no verb\n  hint  %g p"),
        ("asked", "✗ loss is another one by now.\n  hint  %gdebug loss begins anew"),
        ("batch", "error: a notebook has no standard input\n  hint  --batch -x FILE reads the verbs from a file"),
        ("stdin", "error: a notebook has no standard input\n  hint  %%gradtool takes the rest of its cell"),
        ("nothing", "error: which model? Expected MODEL, or --replay FILE.jsonl\n  hint  %gdebug model.py"),
        ("unknown", "error: unknown loss, file or module 'los'\n  hint  closest: loss"),
        ("onerror", "error: --on-error watches the model compute, and loss has been computed"),
    ],
)
def test_what_is_refused_is_a_short_message(shown: dict[str, NotebookNode], name: str, expected: str) -> None:
    error = failure(shown[name])
    assert error.startswith(expected)
    assert len(error.splitlines()) <= 3


def test_the_session_goes_on_after_a_failure(shown: dict[str, NotebookNode]) -> None:
    assert text(shown["goes_on"]).startswith("▶ 5/6 scale_grad.0")
    assert text(shown["hyphen"]).startswith("as expected: there is no tensor 'nothing'.")
    assert text(shown["catch"]).startswith("■ catch inf at ▶ 6/6 sqrt_grad.0")


def test_replies_are_rich(shown: dict[str, NotebookNode]) -> None:
    assert set(bundle(shown["graph"])) == {"text/plain", "image/svg+xml"}
    assert dict(bundle(shown["note"])) == {"text/plain": "**here**", "text/markdown": "**here**"}
    for cell in shown.values():
        for output in cell.outputs:
            assert "<script" not in str(output.get("data", ""))


def test_a_name_that_is_taken_keeps_its_meaning(shown: dict[str, NotebookNode]) -> None:
    assert text(shown["mine"]) == "'mine '"
    assert "catch  inf" in text(shown["any"])


def test_why_asks_about_the_loss_that_is_there(shown: dict[str, NotebookNode]) -> None:
    assert text(shown["why"]).startswith("w   ")
    assert "a second time" in failure(shown["freed"]), "the graph is as it was"
    assert "k   " in text(shown["cell_why"])


def test_ending(shown: dict[str, NotebookNode]) -> None:
    assert shown["quit"].outputs == []


def test_model_files_and_cells(shown: dict[str, NotebookNode]) -> None:
    assert "model.py:11" in text(shown["file"])
    assert "hook.0" in printed(shown["file"]), "a breakpoint says where it is, and nothing is waited for"
    assert text(shown["file_step"]).startswith("■ end of the run")
    assert re.search(r"^▶ 3/4 reduce_sum_grad.0   In\[\d+\]:3", text(shown["cell"]), re.M)
    assert text(shown["cell_goes"]).startswith("■ break")


def test_saved_sessions_and_scripts(shown: dict[str, NotebookNode]) -> None:
    assert text(shown["save"]).startswith("saved hunt.jsonl")
    assert text(shown["replay"]).startswith("▶")
    assert "cells as saved" in printed(shown["checked"])
    assert "In [1]: step" in printed(shown["script"])
    assert text(shown["script"]).startswith("▶ 4/4")


def test_programs_and_rules_of_the_users_own(shown: dict[str, NotebookNode]) -> None:
    assert "\n▶ 4/7 fill_constant.0   In[48]:3" in text(shown["program"])
    assert "note: feed: x from the last Executor.run in this notebook" in text(shown["program"])
    assert text(shown["moved"]) == "■ end of the run · 2 of 2 gradients"
    assert text(shown["same"]) == "True"
    assert text(shown["again"]) == "(10.0, False)"
    assert text(shown["kept_seed"]) == "True"


def test_every_verb_has_a_magic_that_says_what_it_does(shown: dict[str, NotebookNode]) -> None:
    assert verbs.table()["step"].help in text(shown["help"])
    assert text(shown["alike"]) == "({'ghits'}, set())"
