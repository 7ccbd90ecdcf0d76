"""``gradtool report``: what is in it, in both modes and when something is wrong, and that files are written whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from jsonschema import Draft202012Validator

from gradtool.cli import main as command_line
from tests import processes
from tests.cli.conftest import DOCUMENT, Run, Write, in_a_process

SCHEMAS = Path(command_line.__file__).parent / "schemas"
PROGRAM = [sys.executable, "-c", "from gradtool.cli.main import main; main()"]
SECTIONS = ["Verdict", "Parameters and their gradients", "Picture", "Sizes of the gradients", "NaN and infinity"]
SECTIONS += ["Source and call stacks", "Environment", "JSON"]

DETACHED = """\
import paddle
from paddle import nn

def expert(layer, x):
    return paddle.tanh(layer(x)).detach()

right = nn.Linear(3, 2)
left = nn.Linear(3, 2)
x = paddle.ones([4, 3])
loss = paddle.sqrt(nn.functional.relu(left(x) * 0.0) + 0.0 * expert(right, x)).sum()
"""


def data_of(page: str) -> Any:
    """The report in JSON, after a look at its schema and those of the answers in it."""
    data = json.loads(page)
    for part in (data, data["environment"], *filter(None, data["answers"].values())):
        schema = json.loads((SCHEMAS / f"{part['schema'].split('/')[1]}.json").read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(part)
    return data


def headings(markdown: str) -> list[str]:
    return [line.removeprefix("## ") for line in markdown.split("\n") if line.startswith("## ")]


def test_a_model_of_dynamic_mode(gradtool: Run, model: Write, folder: Path) -> None:
    done = gradtool("report", model(DETACHED), "--html", "r.html", "--ipynb", "r.ipynb", "--md", "r.md")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "model model.py · mode eager · loss loss = 0 · gradients 2 findings · NaN and infinity 1 finding"
    )
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert headings(text) == SECTIONS
    assert "verdict: DETACHED" in text
    assert "| right.weight | linear\\_0.w\\_0 | 3×2 |" in text
    assert "BIRTH  backward  sqrt_grad.0" in text
    assert "▶ 5 │     return paddle.tanh(layer(x)).detach()\n  6 │\n  7 │ right = nn.Linear(3, 2)\ncalled by\n" in text
    assert "line 10, in <module>" in text
    assert "flowchart TB" in text
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "default-src 'none'; img-src data:; style-src 'sha256-" in page
    notebook = nbformat.read(folder / "r.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert [c.source for c in notebook.cells if c.cell_type == "code"][:2] == [
        "import gradtool\n\nreport = gradtool.report('model.py')",
        'report["verdict"]',
    ]


def test_a_static_program(gradtool: Run, model: Write, folder: Path) -> None:
    arguments = ["--no-grad", "my_fc.b_0", "--md", "r.md", "--format", "json"]
    done = gradtool("report", model(""), *arguments)
    data = data_of(done.out)
    assert done.code == 0
    answers = data["answers"]
    rows = {p["name"]: p for p in answers["backward"]["parameters"]}
    assert rows["my_fc.b_0"]["status"] == "cut: no_grad_set (--no-grad)"
    assert rows["my_fc.w_0"]["values"]["norm"] == pytest.approx(
        next(r for r in answers["stats"]["rows"] if r["name"] == "my_fc.w_0")["gradient"]["norm"]
    )
    assert answers["backward"]["loss"]["value"] == data["loss"]["value"] > 0
    assert [a["verdict"] for a in answers["why"]["answers"]] == ["no_grad_set"]
    assert answers["nan"]["clean"]
    assert data["graph"] == {"forward": 6, "backward": 7, "nodes": 21}
    assert {"file": "model.py", "line": 9} in [p["source"] for p in data["source"]]
    assert any(note.startswith("feed: made at random (seed 0)") for note in data["notes"])
    assert "feed: made at random" in done.err
    assert headings((folder / "r.md").read_text(encoding="utf-8")) == SECTIONS


def test_the_answers_are_those_of_the_commands(gradtool: Run, model: Write) -> None:
    path = model(DETACHED)
    data = data_of(gradtool("report", path, "--md", "r.md", "--format", "json").out)
    for kind, code in (("why", 0), ("nan", 1), ("stats", 0), ("backward", 0)):
        done = gradtool(kind, path, "--format", "json")
        assert done.code == code
        assert json.loads(done.out) == data["answers"][kind]


def test_the_document_holds_the_same_json(gradtool: Run, model: Write, folder: Path) -> None:
    done = gradtool("report", model(""), "--ipynb", "r.ipynb", "--format", "json", "-q")
    notebook = nbformat.read(folder / "r.ipynb", as_version=4)
    last = notebook.cells[-1]
    assert last.metadata["jupyter"] == {"outputs_hidden": True}
    assert data_of(last.outputs[0].data["text/plain"]) == json.loads(done.out)


def test_the_graph_alone(gradtool: Run, model: Write, folder: Path) -> None:
    data = data_of(gradtool("report", model(""), "--no-run", "--html", "r.html", "--format", "json").out)
    assert data["answers"]["stats"] is data["answers"]["nan"] is None
    assert data["refused"] == {"nan": "The program was not run.", "stats": "The program was not run."}
    assert "The program was not run." in (folder / "r.html").read_text(encoding="utf-8")


def test_a_fed_program_whose_file_runs_backward_itself(gradtool: Run, model: Write, folder: Path) -> None:
    np.savez(folder / "feed.npz", x=np.ones((2, 13), "int64"), y=np.zeros((2, 1), "float32"))
    text = DOCUMENT + "paddle.optimizer.SGD(0.1).minimize(avg_loss)\n"
    data = data_of(gradtool("report", model(text), "--feed", "feed.npz", "--md", "r.md", "--format", "json").out)
    assert "feed: 2 arrays from feed.npz" in data["notes"]
    assert data["answers"]["backward"]["operators"]["left_out"] > 0


def test_a_loss_that_nothing_was_recorded_for(gradtool: Run, model: Write) -> None:
    text = DETACHED.replace(".sum()\n", ".sum().detach()\n")
    data = data_of(gradtool("report", model(text), "--md", "r.md", "--format", "json").out)
    assert data["answers"]["backward"] is None
    assert "has no recorded graph" in data["refused"]["backward"]
    assert data["answers"]["why"]["findings"] > 0
    assert data["answers"]["nan"]["unchecked"] == ["backward: there is nothing to go back through"]
    assert data["graph"] is None


def test_a_model_that_raises_after_its_loss(gradtool: Run, model: Write) -> None:
    data = data_of(gradtool("report", model(DETACHED + "1 / 0\n"), "--md", "r.md", "--format", "json").out)
    assert data["notes"][0].startswith("model.py raised: model.py raised ZeroDivisionError")
    assert data["answers"]["backward"]["parameters"]


def test_a_model_that_goes_back_twice(gradtool: Run, model: Write, folder: Path) -> None:
    text = DETACHED.replace("0.0 * expert", "expert") + "loss.backward()\nloss.backward()\n"
    done = gradtool("report", model(text), "--md", "r.md", "--format", "json")
    data = data_of(done.out)
    assert done.code == 0
    assert [a["verdict"] for a in data["answers"]["why"]["answers"]] == ["freed"]
    assert {p["source"]["line"] for p in data["source"]} == {10, 11, 12}
    assert "nothing else could be asked" in (folder / "r.md").read_text(encoding="utf-8")


def test_a_model_that_raises_before_its_loss(gradtool: Run, model: Write, folder: Path) -> None:
    done = gradtool("report", model("import paddle\n1 / 0\n"), "--html", "r.html")
    assert done.code == 3
    assert "ZeroDivisionError" in done.err
    assert not (folder / "r.html").exists()


def test_cells_of_a_session(gradtool: Run, model: Write, folder: Path) -> None:
    (folder / "hunt.gdt").write_text("note look\nback 2\n'<b>'\nexpect-error p q\nsave s.jsonl\n", encoding="utf-8")
    model(DETACHED)
    assert gradtool("debug", "model.py", "--catch", "nan", "--batch", "-x", "hunt.gdt").code == 0
    out = folder / "sub"
    out.mkdir()
    arguments = ["--session", "s.jsonl", "--html", "r.html", "--ipynb", "sub/r.ipynb", "--title", "A <hunt>"]
    assert gradtool("report", "model.py", *arguments).code == 0
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<h1>A &lt;hunt&gt;</h1>" in page
    assert """<pre class="in">In [3]: '&lt;b&gt;'</pre><div class="out"><pre>'&lt;b&gt;'</pre>""" in page
    notebook = {c.id: c for c in nbformat.read(out / "r.ipynb", as_version=4).cells}
    assert notebook["begin"].source.endswith("gradtool.report('../model.py')")
    assert notebook["session-code"].source == "%load_ext gradtool\n%gdebug ../model.py --catch nan"
    assert notebook["cell-2"].source == "%gback 2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "none of --html, --ipynb and --md is given"),
        (["--html", "nowhere/r.html"], "cannot write nowhere/r.html"),
        (["--html", "."], "cannot write .: it is a directory"),
        (["--html", "r", "--md", "./r"], "--html and --md name the same file"),
        (["--md", "r.md", "--session", "nothing.jsonl"], "cannot read nothing.jsonl"),
        (["--md", "r.md", "--session", "model.py"], "model.py, line 1: expected JSON"),
        (["--md", "r.md", "--no-grad", "my_fc.w"], "closest: my_fc.w_0"),
        (["--md", "r.md", "--feed", "nothing.npz"], "cannot read nothing.npz"),
        (["--md", "r.md", "--loss", "los"], "unknown loss 'los'"),
    ],
)
def test_nonsense(gradtool: Run, model: Write, folder: Path, arguments: list[str], said: str) -> None:
    done = gradtool("report", model(""), *arguments)
    assert (done.code, done.out) == (4 if "expected JSON" in said else 2, "")
    assert said in done.err
    assert sorted(os.listdir(folder)) == ["model.py"]


def test_without_an_option_there_is_help(gradtool: Run, model: Write) -> None:
    done = gradtool("report", model(""))
    assert "--html FILE" in done.err
    assert "hint  --html report.html" in done.err


def test_all_files_or_none(gradtool: Run, model: Write, folder: Path) -> None:
    (folder / "r.html").write_text("before", encoding="utf-8")
    done = gradtool("report", model(""), "--html", "r.html", "--md", "nowhere/r.md", "--ipynb", "r.ipynb")
    assert done.code == 2
    assert (folder / "r.html").read_text(encoding="utf-8") == "before"
    assert sorted(os.listdir(folder)) == ["model.py", "r.html"]


def test_a_program_on_standard_input(tmp_path: Path) -> None:
    def report(*arguments: str) -> subprocess.CompletedProcess[str]:
        return processes.run([*PROGRAM, "report", "-", *arguments], cwd=tmp_path, given=DETACHED)

    assert report("--md", "r.md", "--html", "r.html").returncode == 0
    refused = report("--md", "s.md", "--ipynb", "r.ipynb")
    assert refused.returncode == 2
    assert "a notebook runs its model again" in refused.stderr
    assert not (tmp_path / "s.md").exists()


def test_the_same_bytes_twice_and_under_every_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "static.py").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "dynamic.py").write_text(DETACHED, encoding="utf-8")
    forms = ("html", "ipynb", "md")
    lines = [["report", f"{m}.py", *(w for f in forms for w in (f"--{f}", f"{m}.{f}"))] for m in ("static", "dynamic")]
    files = set()
    for seed in ("1", "7"):
        in_a_process(tmp_path, lines, seed)
        files.add(tuple((tmp_path / f"{m}.{f}").read_bytes() for m in ("static", "dynamic") for f in forms))
    assert len(files) == 1


def test_a_large_model_is_folded_and_its_lines_are_few(gradtool: Run, model: Write, folder: Path) -> None:
    text = "import paddle\nh = paddle.create_parameter([4, 4], 'float32')\n"
    text += "".join(f"h = paddle.tanh(h) + {i}.0\n" for i in range(300)) + "loss = h.mean()\n"
    data = data_of(gradtool("report", model(text), "--html", "r.html", "--format", "json").out)
    assert (len(data["source"]), data["source_left_out"]) == (40, 261)
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "261 more lines made operators" in page
    assert "nodes, folded into" in page
    assert len(page) < 400_000
