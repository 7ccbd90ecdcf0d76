"""``gradtool graph``: what is drawn, in which form, and what is said when something is missing."""

from __future__ import annotations

import re
import shlex
import sys
import webbrowser
from html import unescape
from pathlib import Path

import pytest

from tests.cli.conftest import DOCUMENT, Run, Write, in_a_process

GOLDEN = Path(__file__).parents[1] / "golden"
ROOT = Path(__file__).parents[3]
PICTURES = {
    "lenet_digits.svg": ["samples/lenet_digits.py"],
    "resnet50.svg": ["samples/models/resnet50.py", "--max-nodes", "120"],
    "eager_decoder.svg": ["samples/eager_decoder.py", "--max-nodes", "60"],
    "frozen_branch.svg": ["samples/frozen_branch.py"],
    "detached_expert.svg": ["samples/detached_expert.py"],
}

PROGRAM = [sys.executable, "-c", "from gradtool.cli.main import main; main()"]

DYNAMIC = """\
import paddle
paddle.disable_static()
net = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.Tanh(), paddle.nn.Linear(2, 1))
loss = net(paddle.ones([4, 3])).mean()
"""


@pytest.mark.parametrize("name", ["graph.svg", "graph.dot"])
def test_the_documented_example(gradtool: Run, model: Write, folder: Path, name: str) -> None:
    done = gradtool("graph", model(""), "-o", name)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (folder / name).read_text(encoding="utf-8") == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_same_bytes_under_every_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DOCUMENT, encoding="utf-8")
    lines = [["graph", "model.py", "--format", form, "--collapse", "repeat"] for form in ("svg", "dot")]
    pictures = {in_a_process(tmp_path, lines, seed)[0] for seed in ("0", "1", "7")}
    assert len(pictures) == 1
    assert pictures.pop().count(b"lookup_table_v2") > 1


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_readme_are_current(gradtool: Run, tmp_path: Path, name: str) -> None:
    for folder in ("", "models", "pictures", "data"):
        (tmp_path / "samples" / folder).mkdir(exist_ok=True)
        for file in (ROOT / "samples" / folder).glob("*.*"):
            (tmp_path / "samples" / folder / file.name).write_bytes(file.read_bytes())
    target = tmp_path / "samples" / "pictures" / name
    target.unlink()
    assert gradtool("graph", *PICTURES[name], "-o", f"samples/pictures/{name}").code == 0
    assert target.read_text(encoding="utf-8") == (ROOT / "samples" / "pictures" / name).read_text(encoding="utf-8")
    readme = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/drawing.md"))
    assert f"samples/pictures/{name})" in readme
    assert f"gradtool graph {' '.join(PICTURES[name])} -o samples/pictures/{name}" in readme


def test_parts_focus_and_path(gradtool: Run, model: Write) -> None:
    path = model("")
    forward = gradtool("graph", path, "--part", "fwd").out
    assert "mean_grad" not in forward
    near = gradtool("graph", path, "--focus", "my_fc.w_0", "--radius", "1").out
    assert "mul.0" in near
    assert "reduce_mean" not in near
    way = gradtool("graph", path, "--path", "op:mul..my_fc.w_0@GRAD").out
    assert "mul_grad" in way
    assert "lookup_table_v2.0" not in way


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--focus", "my_fc.w"], "closest: my_fc.w_0"),
        (["--path", "x"], "expected A..B"),
        (["--path", "my_fc.w_0@GRAD..x"], "no way leads from my_fc.w_0@GRAD to x"),
        (["-o", "picture"], "the name does not say which format"),
        (["-o", "picture.jpeg"], "--format dot|svg|png|pdf"),
    ],
)
def test_what_cannot_be_drawn_is_a_usage_error(gradtool: Run, model: Write, arguments: list[str], said: str) -> None:
    done = gradtool("graph", model(""), *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("by", ["norm", "time", "bytes", "dtype", "layer"])
def test_colours_of_a_static_program(gradtool: Run, model: Write, by: str) -> None:
    done = gradtool("graph", model(""), "--color", by, "--format", "svg")
    assert done.code == 0
    titles = {
        "norm": "norm of the gradient",
        "time": "time of the operator",
        "bytes": "bytes written",
        "dtype": "dtype",
        "layer": "layer",
    }
    assert f"colour: {titles[by]}" in done.out
    assert {"norm": "‖·‖", "time": "µs", "bytes": "B · ", "dtype": "int64 · ", "layer": ""}[by] in done.out


def test_colours_of_a_recorded_graph(gradtool: Run, folder: Path) -> None:
    (folder / "model.py").write_text(DYNAMIC, encoding="utf-8")
    assert "‖·‖" in gradtool("graph", "model.py", "--color", "norm", "--format", "svg").out
    assert "24 B · float32[3, 2]" in gradtool("graph", "model.py", "--color", "bytes", "--format", "svg").out
    assert "float32" in gradtool("graph", "model.py", "--color", "dtype", "--format", "svg").out
    assert "colour: layer" in gradtool("graph", "model.py", "--color", "layer", "--format", "svg").out


def test_times_of_a_recorded_graph(gradtool: Run, folder: Path) -> None:
    """Forward operators as the file ran them, gradient operators from runs of their own; each says what it took."""
    (folder / "model.py").write_text(DYNAMIC, encoding="utf-8")
    done = gradtool("graph", "model.py", "--color", "time", "--format", "svg")
    assert done.code == 0
    assert "colour: time of the operator" in done.out
    box = re.compile(r'<g class="n [^"]*" id="(op\d+)">.*?class="s"[^>]*>([^<]*)</text>', re.DOTALL)
    operators = box.findall(done.out)
    assert len(operators) == len(set(re.findall(r'id="(op\d+)"', done.out))) > 2
    assert all(re.match(r"[\d.e+-]+ (µs|ms) · ", second) for _, second in operators)


@pytest.mark.parametrize("by", ["norm", "bytes", "time"])
def test_colours_of_branches(gradtool: Run, by: str) -> None:
    done = gradtool("graph", str(ROOT / "samples" / "mixture_of_experts.py"), "--color", by, "--format", "svg")
    assert done.code == 0, done.err
    assert "conditional_block_grad" in done.out
    assert "colour: " in done.out


def test_folding_is_said(gradtool: Run, model: Write) -> None:
    done = gradtool("graph", model(""), "--max-nodes", "8")
    assert "nodes folded into" in done.err
    assert gradtool("graph", model(""), "--max-nodes", "8", "-q").err == ""


def test_a_picture_is_opened(gradtool: Run, model: Write, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not shown.append(address))
    path = model("")
    assert gradtool("graph", path, "--open", "-o", "g.svg").code == 0
    assert shown == [(folder / "g.svg").as_uri()]
    assert gradtool("graph", path, "--open").out == ""
    page = Path(shown[1].removeprefix("file://"))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    page.unlink()
    page.parent.rmdir()
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert "there is no browser to open file://" in gradtool("graph", path, "--open", "-o", "g.svg").err


def test_without_graphviz_all_but_png_and_pdf_works(
    gradtool: Run, model: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    path = model("")
    for name in ("g.svg", "g.dot"):
        assert gradtool("graph", path, "-o", name).code == 0
    for name in ("g.png", "g.pdf"):
        done = gradtool("graph", path, "-o", name)
        assert done.code == 2
        assert "install Graphviz" in done.err
        assert "pip install 'gradtool[render]'" in done.err
        assert not (folder / name).exists()
    done = gradtool("graph", path, "-o", "h.svg", "--layout", "dot")
    assert done.code == 0
    assert "The mirror layout is drawn instead." in done.err
    assert (folder / "h.svg").exists()


def test_without_its_programs_a_package_brings_graphviz(
    gradtool: Run, model: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    path = model("")
    for name, start in (("g.png", b"\x89PNG"), ("g.pdf", b"%PDF")):
        assert gradtool("graph", path, "-o", name).code == 0
        assert (folder / name).read_bytes().startswith(start)
    done = gradtool("graph", path, "-o", "h.svg", "--layout", "dot")
    assert (done.code, done.err) == (0, "")
    assert (folder / "h.svg").read_text(encoding="utf-8").count('class="node"') > 10
    assert "pygraphviz draws" in gradtool("self", "version").out


def test_graphviz_that_takes_too_long_is_ended(
    gradtool: Run, model: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = folder / "dot"
    slow.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    done = gradtool("graph", model(""), "-o", "g.svg", "--layout", "dot", "--dot-limit", "0.2")
    assert done.code == 0
    assert done.err == "dot did not finish in 0.2 s and was ended. The mirror layout is drawn instead.\n"
    assert (folder / "g.svg").read_text(encoding="utf-8").startswith("<svg")


def test_dot_text_for_dot_has_no_places(gradtool: Run, model: Write) -> None:
    text = gradtool("graph", model(""), "--layout", "dot").out
    assert "// draw it:  dot -Tsvg" in text
    assert "pos=" not in text


@pytest.mark.parametrize("form", ["svg", "dot", "html", "mmd"])
def test_the_command_in_a_picture_draws_it_again(gradtool: Run, model: Write, folder: Path, form: str) -> None:
    model("")
    options = ["--part", "fwd", "--layout", "mirror", "--dot-limit", "7", "--max-nodes", "9"]
    gradtool("graph", "model.py", *options, "-o", f"a picture.{form}")
    first = (folder / f"a picture.{form}").read_text(encoding="utf-8")
    line = re.search(r"made by:? (?:<code>)?gradtool (graph .*?)(?:</metadata>|</code>|\n)", first)
    assert line is not None
    (folder / f"a picture.{form}").unlink()
    gradtool(*shlex.split(unescape(line[1])))
    assert (folder / f"a picture.{form}").read_text(encoding="utf-8") == first


def test_what_was_not_asked_for_is_not_named(gradtool: Run, model: Write) -> None:
    assert "// made by: gradtool graph model.py\n" in gradtool("graph", model("")).out
