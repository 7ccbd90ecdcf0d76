"""The magics in a real kernel: one notebook, executed once, and what its cells show."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from nbformat import NotebookNode

from gradtool.cli.commands import names as command_names
from gradtool.cli.commands import summary
from gradtool.cli.notebook.names import CELL, WATCH, magic_of
from gradtool.viz.debugger import verbs
from tests.cli.conftest import DOCUMENT, Run, Write
from tests.notebooks import bundle, execute, failure, notebook, printed

MODEL = """\
from gradtool import paddle
from gradtool.paddle import nn
emb, det, head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
h = emb(paddle.randn([3, 4]))
k = det(h).detach()
loss = head(h + k).mean()
loss.backward()"""

STATIC = """\
paddle.enable_static()
x = paddle.static.data("x", [None, 3])
h = paddle.static.nn.fc(x, 4, name="a")
b = paddle.static.nn.batch_norm(h)
cost = paddle.mean(b * b + paddle.static.nn.fc(h, 4, name="b").detach())
program = paddle.static.default_main_program()
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
paddle.static.append_backward(cost, no_grad_set={"a.b_0"})
exe.run(feed={"x": [[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]}, fetch_list=[cost])
from gradtool.engine.core import state as settings
def state():
    values = paddle.static.global_scope().values
    return str(program), {n: v.tolist() for n, v in values.items()}, str(settings.random.position)
before_asking = state()"""

REGISTER = """\
from gradtool.cli.notebook.magics import magics_in
magics_in(get_ipython()).register({"gstep": (lambda line: [int(line)], "Go a number of steps.")})"""

CELLS = {
    "names": "before = {k: set(v) for k, v in get_ipython().magics_manager.magics.items()}",
    "load": "%load_ext gradtool",
    "other": "from gradtool import paddle\nother = paddle.nn.Linear(2, 2)\nloss = other(paddle.ones([1, 2])).sum()",
    "model": MODEL,
    "why": "%why loss",
    "backward": "table = %backward loss\ntable",
    "data": "[p['python_name'] for p in table.data['parameters']][:2], table.code",
    "stats": "%stats loss",
    "nan": "%nan loss",
    "profile": "%stats --time loss --top 1",
    "saved": "%stats --memory loss",
    "graph": "%graph loss",
    "page": "%graph loss --format html",
    "markdown": "%why det.weight loss --format markdown",
    "file": "%backward model.py --no-grad my_fc.b_0",
    "line": "%gradtool backward model.py --no-grad my_fc.b_0",
    "cell": "%%gradtool backward --no-grad my_fc.b_0\nprint('a model prints')\n" + DOCUMENT,
    "later": "%why my_fc.b_0 --no-grad my_fc.b_0 {cell}",
    "leaked": "'avg_loss' in globals(), paddle.in_dynamic_mode()",
    "raises": "%%gradtool nan\nimport paddle\nx = 1 / 0",
    "unknown": "%why losss",
    "option": "%why loss --bogus",
    "nothing": "%why",
    "unmade": "%why In[999]",
    "stdin": "%backward -",
    "again": "loss.backward()",
    "reversed": "%why loss det.weight",
    "born": "x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)\nbad = (paddle.log(x) * x).sum()",
    "late": "%nan bad",
    "given": "kept = paddle.ones([2])\nkept.stop_gradient = False\npart = kept * 3.0\n"
    "part.backward(paddle.to_tensor([0.1, 0.01]))",
    "sized": "%backward part --format tsv",
    "async": "import asyncio\nawait asyncio.sleep(0)\ncut = (x.detach() * 2).sum()",
    "after": "%why cut",
    "unwatch": "%watching off",
    "unseen": "unseen = (x.detach() * 2).sum()",
    "blind": "%why unseen",
    "wrong": "%watching perhaps",
    "written": "%backward loss --format json -o table.json -q",
    "watch": "%watching on",
    "static": STATIC,
    "run": "%backward cost --run",
    "steady": "%why cost",
    "proved": "%why cost b.w_0 --prove -q",
    "same": "before_asking == state()",
    "program": "%graph --text program --part fwd",
    "register": REGISTER,
    "step": "%gstep 3",
    "stumbled": "%gstep",
    "help": "get_ipython().find_line_magic('gdebug').__doc__",
    "door": "from paddle import nn\nnn.__name__",
    "unload": "%unload_ext gradtool",
    "alike": "before == {k: set(v) for k, v in get_ipython().magics_manager.magics.items()}",
    "taken": f"sorted(before['line'] & set({[magic_of(c) for c in command_names()]}))",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NotebookNode]:
    """The cells by name, executed."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "model.py").write_text(DOCUMENT, encoding="utf-8")
    names = list(CELLS)
    texts = [text.replace("{cell}", f"In[{names.index('cell') + 1}]") for text in CELLS.values()]
    nb = execute(notebook(texts), folder)
    assert (folder / "table.json").read_text(encoding="utf-8").startswith("{")
    return dict(zip(names, nb.cells, strict=True))


def number(name: str) -> int:
    return list(CELLS).index(name) + 1


def test_a_missing_gradient_is_explained_by_the_line_of_the_cell(shown: dict[str, NotebookNode]) -> None:
    forms = bundle(shown["why"])
    place = f"In[{number('model')}]:5"
    assert forms["text/plain"].startswith("det.weight   grad = None   verdict: DETACHED")
    assert f"  {place}    k = det(h).detach()\n" in forms["text/plain"]
    assert forms["text/plain"].endswith(f"next: %why det.weight loss · %graph --where line:{place} loss")
    assert "<pre>det.weight" in forms["text/html"]


def test_a_cell_that_gave_backward_a_gradient_is_answered_with_it(shown: dict[str, NotebookNode]) -> None:
    headings, row = [line.split("\t") for line in bundle(shown["sized"])["text/plain"].splitlines()[:2]]
    assert dict(zip(headings, row, strict=True))["‖g‖"] == "0.3015"


def test_the_loss_may_come_first(shown: dict[str, NotebookNode]) -> None:
    assert bundle(shown["reversed"])["text/plain"].startswith("det.weight   grad = None   verdict: DETACHED")


def test_models_of_earlier_cells_are_no_findings(shown: dict[str, NotebookNode]) -> None:
    assert "other." not in bundle(shown["why"])["text/plain"]
    assert "other" not in bundle(shown["backward"])["text/plain"]


def test_a_table_is_a_table(shown: dict[str, NotebookNode]) -> None:
    html = bundle(shown["backward"])["text/html"]
    table = ElementTree.fromstring(re.findall("<table>.*</table>", html)[0])
    rows = [["".join(c.itertext()) for c in row] for row in table.iter("tr")]
    assert rows[0][0] == "leaf"
    named = ["emb.weight", "emb.bias", "head.weight", "head.bias", "det.weight", "det.bias", "k"]
    assert [r[0] for r in rows[1:]] == named
    cut = f"cut: detached, In[{number('model')}]:5"
    assert [r[-2] for r in rows[1:]] == [*["ok"] * 4, cut, cut, "cut: detached"]
    assert f"<b>cut: detached, In[{number('model')}]:5</b>" in html
    assert bundle(shown["data"])["text/plain"] == repr((named[:2], 0))


def test_other_answers(shown: dict[str, NotebookNode]) -> None:
    assert "no gradient" in bundle(shown["stats"])["text/plain"]
    assert "the forward pass, which was over before the search" in bundle(shown["nan"])["text/plain"]
    assert "the backward pass alone is measured" in bundle(shown["profile"])["text/html"]


def test_paddle_is_found_where_no_real_one_is_installed(shown: dict[str, NotebookNode]) -> None:
    assert bundle(shown["door"])["text/plain"] == "'gradtool.paddle.nn'"


def test_a_picture_needs_no_script(shown: dict[str, NotebookNode]) -> None:
    forms = bundle(shown["graph"])
    assert sorted(forms) == ["image/svg+xml", "text/plain"]
    assert ElementTree.fromstring(forms["image/svg+xml"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert "matmul_v2_grad" in forms["text/plain"]


def test_a_page_is_framed_with_the_text_below_it(shown: dict[str, NotebookNode]) -> None:
    html = bundle(shown["page"])["text/html"]
    frame, rest = html.split("</iframe>")
    assert "<script" not in re.sub('srcdoc="[^"]*"', "", frame)
    assert "matmul_v2_grad" in rest


def test_html_is_static(shown: dict[str, NotebookNode]) -> None:
    for name, cell in shown.items():
        for output in cell.outputs:
            html = output.get("data", {}).get("text/html", "")
            if name != "page":
                assert not re.search(r"<(?!/?(table|thead|tbody|tr|th|td|pre|p|small|code|b)\b)[^>]*>|\son\w+=", html)


def test_markdown(shown: dict[str, NotebookNode]) -> None:
    assert "text/markdown" in bundle(shown["markdown"])
    assert "%why" not in bundle(shown["markdown"])["text/markdown"].split("next:")[0]


def test_a_file_is_answered_as_on_the_command_line(shown: dict[str, NotebookNode], gradtool: Run, model: Write) -> None:
    model()
    expected = gradtool("backward", "model.py", "--no-grad", "my_fc.b_0").out.split("next:")[0]
    assert bundle(shown["file"])["text/plain"].split("next:")[0] == expected
    assert bundle(shown["line"])["text/plain"].split("next:")[0] == expected


def test_a_cell_is_a_model_file(shown: dict[str, NotebookNode]) -> None:
    text = bundle(shown["cell"])["text/plain"]
    assert text.startswith(f"program  In[{number('cell')}] · static · 6 forward ops → 7 backward ops")
    assert "my_fc.b_0        1        –                     –                       cut: no_grad_set" in text
    assert f"In[{number('cell')}]:9" in text
    assert printed(shown["cell"]) == "a model prints\n"
    assert "IN NO_GRAD_SET" in bundle(shown["later"])["text/plain"]
    assert bundle(shown["leaked"])["text/plain"] == "(False, True)"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("raises", 'error: In[{0}] raised ZeroDivisionError: division by zero\n  File "In[{0}]", line 2, in <module>'),
        ("unknown", "error: unknown loss, file or module 'losss'\n  hint  closest: loss"),
        ("option", "error: No such option '--bogus'"),
        ("nothing", "error: Missing argument '[VAR]... MODEL'.\n  hint  %why --help"),
        ("unmade", "error: unknown cell that begins with %%gradtool: 'In[999]'\n  hint  closest: In["),
        ("stdin", "error: a notebook has no standard input"),
        ("saved", "error: saved watches the model compute, and loss has been computed\n  hint  begin the cell"),
        ("blind", "error: unseen was not watched while it was computed\n  hint  run its cell again: %load_ext"),
        ("wrong", "error: %watching perhaps: expected on or off"),
    ],
)
def test_errors_are_short_messages(shown: dict[str, NotebookNode], name: str, expected: str) -> None:
    text = failure(shown[name])
    assert text.startswith(expected.format(number(name)))
    assert len(text.splitlines()) <= 4
    assert "cli/" not in text


def test_asking_changes_nothing(shown: dict[str, NotebookNode]) -> None:
    """The graph that backward freed is free again after the questions that brought it back."""
    assert "a second time" in failure(shown["again"])


def test_backward_is_not_blamed_for_what_was_born_before_it(shown: dict[str, NotebookNode]) -> None:
    assert f"what elementwise_mul keeps at In[{number('born')}]:2 is not finite" in failure(shown["late"])


def test_cells_that_wait_are_watched(shown: dict[str, NotebookNode]) -> None:
    assert printed(shown["async"], "stderr") == ""
    assert "DETACHED" in bundle(shown["after"])["text/plain"]


def test_a_program_is_asked_about_in_a_copy(shown: dict[str, NotebookNode]) -> None:
    text = bundle(shown["run"])["text/plain"]
    assert text.startswith("program  cost · static · 9 forward ops → ")
    assert [line.split()[0] for line in text.splitlines()[2:10]] == [
        *("a.w_0", "a.b_0", "batch_norm_0.w_0", "batch_norm_0.b_0"),
        *("batch_norm_0.w_1", "batch_norm_0.w_2", "b.w_0", "b.b_0"),
    ]
    assert text.endswith("note: feed: x from the last Executor.run in this notebook")
    answers = bundle(shown["steady"])["text/plain"]
    assert f"  In[{number('static')}]:9    paddle.static.append_backward(cost" in answers
    assert "[proved by running again]" in bundle(shown["proved"])["text/plain"]
    assert bundle(shown["same"])["text/plain"] == "True"
    assert "mul_grad" not in bundle(shown["program"])["text/plain"]


def test_a_table_of_verbs_becomes_magics(shown: dict[str, NotebookNode]) -> None:
    assert bundle(shown["step"])["text/plain"] == "[3]"
    assert failure(shown["stumbled"]).startswith("error: gradtool itself failed: ValueError")


def test_nothing_is_shown_of_what_went_to_a_file(shown: dict[str, NotebookNode]) -> None:
    assert shown["written"].outputs == []


def test_magics_have_a_help(shown: dict[str, NotebookNode]) -> None:
    assert summary("debug") in bundle(shown["help"])["text/plain"]


def test_no_magic_of_the_shell_is_replaced_and_unloading_takes_all_away(shown: dict[str, NotebookNode]) -> None:
    assert bundle(shown["taken"])["text/plain"] == "[]"
    assert bundle(shown["alike"])["text/plain"] == "True"


def test_verbs_of_the_debugger_and_commands_share_no_name() -> None:
    names = [magic_of(c) for c in command_names()] + [CELL, WATCH]
    assert len(set(names)) == len(names)
    assert {f"g{verb}" for verb in verbs.table()}.isdisjoint(names)
