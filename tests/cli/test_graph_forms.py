"""``gradtool graph`` as HTML, JSON, Mermaid and text; ``test_graph_command.py`` has the other forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gradtool.cli import main as command_line
from gradtool.viz.render import mermaid
from tests.cli.conftest import Run, Write
from tests.viz.pages import names

SCHEMAS = Path(command_line.__file__).parent / "schemas"
BEGINNINGS = {
    "graph.html": "<!doctype html>\n",
    "graph.htm": "<!doctype html>\n",
    "graph.json": '{\n  "blocks": [',
    "graph.mmd": "%% forward and backward graph of model.py\n",
    "graph.mermaid": "%% forward and backward graph of model.py\n",
    "graph.txt": "forward and backward graph of model.py\n",
}


@pytest.mark.parametrize("file", BEGINNINGS)
def test_the_ending_says_the_form(gradtool: Run, model: Write, folder: Path, file: str) -> None:
    model("")
    done = gradtool("graph", "model.py", "-o", file)
    assert (done.code, done.out) == (0, "")
    assert (folder / file).read_text(encoding="utf-8").startswith(BEGINNINGS[file])


def test_json_fits_its_schema(gradtool: Run, model: Write) -> None:
    model("")
    done = gradtool("graph", "model.py", "--format", "json", "--part", "bwd")
    schema = json.loads((SCHEMAS / "graph.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(done.out))


def test_text_in_ascii(gradtool: Run, model: Write) -> None:
    model("")
    done = gradtool("graph", "model.py", "--format", "text", "--ascii")
    assert done.out.isascii()
    assert "<->" in done.out
    assert done.out.endswith("6 of 6 forward ops have a gradient op\n")


def test_the_page_has_the_source_of_every_operator_and_norms_when_run(
    gradtool: Run, model: Write, folder: Path
) -> None:
    model("")
    gradtool("graph", "model.py", "-o", "plain.html")
    gradtool("graph", "model.py", "-o", "norms.html", "--color", "norm")
    plain, norms = ((folder / f).read_text(encoding="utf-8") for f in ("plain.html", "norms.html"))
    assert "y_predict = paddle.static.nn.fc(x=x_emb, size=1, activation=None, name='my_fc')" in plain
    assert '"values":{}' in plain
    assert '[["norm","' in norms
    assert "norm of the" in norms


def test_the_page_is_not_folded_unless_asked(gradtool: Run, model: Write, folder: Path) -> None:
    model(
        "import paddle\npaddle.enable_static()\nh = paddle.static.data('x', [4])\nfor i in range(300):\n"
        "    h = paddle.tanh(h)\nloss = paddle.mean(h)\n"
    )
    gradtool("graph", "model.py", "-o", "all.html")
    assert "tanh.299" in names((folder / "all.html").read_text(encoding="utf-8"))
    assert "folded" in gradtool("graph", "model.py", "-o", "few.html", "--collapse", "repeat").err
    assert "tanh.299" not in names((folder / "few.html").read_text(encoding="utf-8"))


def test_mermaid_notes_are_on_stderr(gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mermaid, "MOST_EDGES", 10)
    model("")
    done = gradtool("graph", "model.py", "--format", "mermaid")
    assert "edges: Mermaid draws at most 10 unless its setting maxEdges is raised" in done.err
    assert done.out.startswith("%% ")
