"""``gradtool gradients``, ``program``, ``dump``, ``ops``, ``doctor``, and what is true of all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import gradtool as library
from gradtool.cli import commands
from gradtool.cli import main as command_line
from gradtool.engine.kernels import onednn
from gradtool.engine.ops import registry
from tests.cli.conftest import DOCUMENT, Run, Write, in_a_process

GOLDEN = Path(__file__).parent / "golden"
SCHEMAS = Path(command_line.__file__).parent / "schemas"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pairs.text", ["graph", "model.py", "--pairs"]),
        ("program.text", ["graph", "--text", "model.py", "--part", "bwd", "--source"]),
        ("gradients.text", ["gradients", "model.py", "--input", "x,x_emb,my_fc.w_0"]),
    ],
)
def test_the_documented_example(gradtool: Run, model: Write, name: str, arguments: list[str]) -> None:
    model("")
    done = gradtool(*arguments, "-q")
    assert (done.code, done.out, done.err) == (0, golden(name), "")


def test_the_dump_of_the_documented_example(gradtool: Run, model: Write, folder: Path) -> None:
    done = gradtool("graph", "--dump", "deep/out", model(""))
    assert done.code == 0
    written = {p.name: p.read_text(encoding="utf-8") for p in (folder / "deep" / "out").iterdir()}
    names = ["backward_graph.dot", "call_stack.log", "manifest.json", "outline.json", "ref_forward_graph.dot"]
    assert sorted(written) == names
    for name in names:
        assert written[name] == golden(name)
    assert json.loads(written["manifest.json"])["files"] == [n for n in names if n != "manifest.json"]


def test_a_stamped_dump_replaces_nothing(gradtool: Run, model: Write, folder: Path) -> None:
    for _ in range(2):
        assert gradtool("graph", "--dump", "out", model(""), "--stamp").code == 0
    names = sorted(p.name for p in (folder / "out").iterdir())
    assert len(names) == 10
    assert not any(":" in n for n in names)


def test_the_whole_stack_of_every_operator(gradtool: Run, model: Write, folder: Path) -> None:
    text = (
        "import paddle\npaddle.enable_static()\n"
        "def layer(h):\n    return paddle.static.nn.fc(h, 2)\n"
        "def build():\n    x = paddle.static.data('x', [None, 2])\n    return paddle.mean(layer(x))\n"
    )
    gradtool("graph", "--dump", "out", model(text))
    log = (folder / "out" / "call_stack.log").read_text(encoding="utf-8")
    entries = log.split("\n\n")[1:]
    assert [e.split("\n")[0] for e in entries][:2] == ["op0 mul.0", "op1 elementwise_add.0"]
    gradient = next(e for e in entries if "mul_grad.0" in e)
    assert gradient.rstrip().split("\n") == [
        f"{gradient.split(' ')[0]} mul_grad.0  (gradient of op0 mul.0)",
        '  File "model.py", line 7, in build',
        "      return paddle.mean(layer(x))",
        '  File "model.py", line 4, in layer',
        "      return paddle.static.nn.fc(h, 2)",
    ]
    assert all('  File "model.py", line ' in e for e in entries)
    assert "click" not in log


def test_gradients_with_starts_and_reasons(gradtool: Run, model: Write) -> None:
    text = (
        "import paddle\npaddle.enable_static()\n"
        "x = paddle.static.data('x', [2, 3])\nx.stop_gradient = False\n"
        "z = paddle.static.data('z', [2, 3])\nz.stop_gradient = False\n"
        "dy = paddle.static.data('dy', [2, 3])\n"
        "y, other = x * x, paddle.mean(x * 3.0)\n"
        "feed = {'x': [[1, 2, 3], [4, 5, 6]], 'z': [[0] * 3] * 2, 'dy': [[0, 0, 0], [0, 0, 1]]}\n"
    )
    model(text)
    arguments = ["--target", "y,other", "--target-grad", "dy,ones", "--input", "x,z,dy", "--run", "--format", "json"]
    done = gradtool("gradients", "model.py", *arguments)
    x, z, dy = json.loads(done.out)["inputs"]
    assert x["status"] == "ok"
    assert x["values"]["max_abs"] == 12.5
    assert (z["gradient"], z["status"]) == (None, "unused")
    assert (dy["gradient"], dy["status"]) == (None, "unused")
    wrong = gradtool("gradients", "model.py", "--target", "other", "--target-grad", "dy", "--input", "x")
    assert wrong.code == 4
    assert "differ" in wrong.err


def test_program_text_is_the_programs_own(gradtool: Run, model: Write) -> None:
    scope: dict[str, Any] = {}
    library.as_paddle()
    try:
        exec(DOCUMENT + "paddle.static.append_backward(avg_loss)", scope)
    finally:
        from gradtool.paddle import _alias

        _alias.uninstall()
    expected = str(library.paddle.static.default_main_program())
    done = gradtool("graph", "--text", model(""), "-q")
    assert done.out == expected + "next: gradtool graph model.py --pairs\n"
    assert gradtool("graph", "--text", "model.py", "--blocks", "-q").out == done.out


def test_program_without_a_loss_shows_the_forward_part(gradtool: Run, model: Write) -> None:
    done = gradtool(
        "graph", "--text", model("import paddle\npaddle.enable_static()\nx = paddle.static.data('x', [1])\n")
    )
    assert done.code == 0
    assert "var x :" in done.out
    assert "the forward part alone" in done.err


def test_ops_lists_everything_and_explains_one(gradtool: Run) -> None:
    listed = gradtool("explain", "--ops", "--format", "tsv").cells
    assert [row[0] for row in listed[1:]] == [o.type for o in registry.all_ops()]
    by_type = {row[0]: row[4] for row in listed[1:]}
    assert by_type["mul"] == "mul_grad"
    assert by_type["scale"] == "ordinary operators"
    assert by_type["fill_constant"] == "–"
    one = gradtool("explain", "elementwise_add").out
    assert one.startswith("elementwise_add(X, Y) → Out\ngradient  elementwise_add_grad\n")
    assert "Sum of two tensors" in one
    assert "gradient of  relu" in gradtool("explain", "relu_grad").out


@pytest.mark.usefixtures("nobody_has_chosen")
def test_doctor_where_onednn_is_not_installed(gradtool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn, "find_backend", lambda: None)
    computes = json.loads(gradtool("self", "version", "--format", "json").out)["computes"]
    assert computes["backend"] == "numpy"
    assert "nobody has chosen; plans are compiled from their run 64 on" in computes["why"]


@pytest.mark.usefixtures("nobody_has_chosen")
def test_doctor(gradtool: Run) -> None:
    data = json.loads(gradtool("self", "version", "--format", "json").out)
    assert data["versions"]["gradtool"] == library.__version__
    assert data["backends"]["numpy"] == "ready"
    assert data["computes"]["backend"] == "onednn"
    assert "nobody has chosen; convolutions are oneDNN's" in data["computes"]["why"]
    chosen = json.loads(gradtool("self", "version", "--format", "json", "--backend", "numba").out)["computes"]
    assert chosen == {"backend": "numba", "why": "it was chosen: --backend, GRADTOOL_BACKEND or a setting"}
    assert "paths" not in data
    assert sys.executable not in json.dumps(data)
    assert json.loads(gradtool("self", "version", "--format", "json", "-v").out)["paths"]["python"] == sys.executable


JSON = [
    ["backward", "model.py", "--no-grad", "my_fc.b_0"],
    ["backward", "model.py", "--run", "--params", "*w_0"],
    ["backward", "model.py", "--only-grads"],
    ["gradients", "model.py", "--input", "x,x_emb", "--run"],
    ["graph", "--text", "model.py"],
    ["graph", "--pairs", "model.py"],
    ["graph", "--dump", "out", "model.py"],
    ["why", "my_fc.b_0", "model.py", "--contributions"],
    ["why", "model.py", "--no-grad", "x_emb", "--prove"],
    ["graph", "--where", "mul_grad.0", "model.py"],
    ["nan", "model.py"],
    ["gradcheck", "model.py", "--order", "2"],
    ["stats", "--time", "model.py", "--repeats", "2"],
    ["stats", "--time", "model.py", "--repeats", "2", "--fused"],
    ["stats", "--memory", "model.py", "--held"],
    ["stats", "model.py", "--histogram"],
    ["stats", "model.py", "--by", "layer"],
    ["stats", "model.py", "--by", "op", "--worst", "2"],
    ["explain", "--ops"],
    ["explain", "scale"],
    ["self", "version"],
    ["self", "version", "-v"],
]


@pytest.mark.parametrize("arguments", JSON, ids=" ".join)
def test_json_fits_its_schema(gradtool: Run, model: Write, folder: Path, arguments: list[str]) -> None:
    model("")
    done = gradtool(*arguments, "--format", "json")
    texts = [done.out]
    if "--dump" in arguments:
        texts.append((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    for text in texts:
        data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
        kind = data["schema"].split("/")[1]
        schema = json.loads((SCHEMAS / f"{kind}.json").read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(data)
        assert text == json.dumps(data, indent=2, sort_keys=True) + "\n"


@pytest.mark.parametrize("arguments", [a for a in JSON if "--only-grads" not in a], ids=" ".join)
def test_every_text_ends_with_what_to_do_next(gradtool: Run, model: Write, arguments: list[str]) -> None:
    model("")
    last = gradtool(*arguments).out.splitlines()[-1]
    assert last.startswith("next: ")


@pytest.mark.parametrize("name", [name for name in commands.every() if name != commands.OF_A_MODEL])
def test_every_command_has_help(gradtool: Run, name: str) -> None:
    done = gradtool(*name.split(), "--help")
    head, _, form = name.partition(" ")
    assert done.code == 0
    assert f"Usage: gradtool {name}" in done.out
    assert f"\n  {form or head} " in gradtool(*([head] if form else []), "--help").out


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["backward", "--help"], ["nosuch"]], ids=" ".join)
def test_what_help_imports(folder: Path, arguments: list[str]) -> None:
    """Start-up stays short because nothing heavy is loaded."""
    program = (
        "import sys\nfrom gradtool.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = [m for m in sys.modules if m.partition('.')[0] in ('numpy', 'rich', 'graphviz', 'inspect_')]\n"
        "light = ('gradtool.engine.core', 'gradtool.engine.core.errors', 'gradtool.engine.core.near_names')\n"
        "light += ('gradtool.engine.core.records',)  # it makes data classes\n"
        "light += ('gradtool.engine.kernels', 'gradtool.engine.kernels.choice')  # the names of backends\n"
        "light += ('gradtool.engine.core.settings', 'gradtool.engine.core.scoped_variables')  # choices\n"
        "light += ('gradtool.engine.core.cache_folders',)  # a write into one of them is none\n"
        "light += ('gradtool.engine.core.audit',)  # what a file does is heard from its first line\n"
        "light += ('gradtool.engine.kernels.threads',)  # it says how many, before anything that computes is loaded\n"
        "above = ('gradtool.engine.script', 'gradtool.engine.request', 'gradtool.engine.core.command_errors')\n"
        "heavy += [m for m in sys.modules if m.startswith('gradtool.engine.')\n"
        "          and m not in light and not m.startswith(above)]\n"
        "print('heavy:', heavy)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, cwd=folder)
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_the_answer_needs_neither_rich_nor_graphviz(folder: Path, model: Write) -> None:
    program = (
        "import sys\nfrom gradtool.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('rich', 'graphviz', 'jsonschema') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "backward", model("")], capture_output=True, text=True, cwd=folder
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_two_runs_are_the_same_bytes(folder: Path, model: Write) -> None:
    """Whatever the hash seed: every form of every result, and every file."""
    model("")
    calls = [
        ["backward", "model.py", "--run", "--dot", "g.dot", "--dump", "out", "--format", "json"],
        ["backward", "model.py", "--no-grad", "*.w_0,*b_0"],
        ["graph", "model.py", "--pairs"],
        ["graph", "--text", "model.py", "--format", "json"],
        ["gradients", "model.py", "--run"],
        ["explain", "--ops"],
    ]

    def everything(seed: str) -> list[bytes]:
        said = in_a_process(folder, calls, seed)
        return [*said, *(p.read_bytes() for p in sorted(p for p in folder.rglob("*") if p.is_file()))]

    first = everything("0")
    assert len(first) == 2 + 1 + 1 + 4
    assert first[0].count(b"next: ") == 4
    assert everything("1234") == first


def test_the_module_is_the_command(gradtool: Run, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradtool", "backward", "nowhere.py"], capture_output=True, text=True, cwd=folder
    )
    assert (done.returncode, done.stderr) == (2, gradtool("backward", "nowhere.py").err)
    assert "no such file: nowhere.py" in done.stderr


def test_the_version_says_what_is_installed(gradtool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"numpy": "2.4.6", "torch": "2.13.0"}

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    done = gradtool("--version")
    first, python, *rest = done.out.splitlines()
    assert done.code == 0
    assert (first, python.split()[0]) == (f"gradtool {library.__version__}", "python")
    assert rest[:2] == ["numpy   2.4.6", "torch   2.13.0"]
    assert rest[2].startswith("not installed: jax, jaxlib, paddlepaddle, ")
