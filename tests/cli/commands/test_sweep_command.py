"""``gradtool sweep``: what it prints, what it refuses, its exit codes and its files."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from gradtool.engine.sweeps.places import this_process
from tests.cli.conftest import Run
from tests.house.test_schemas import schema
from tests.sweeps.conftest import EAGER, STATIC, planted

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "sweep.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```console\n\$ gradtool (.*?)```", DOCUMENT, re.DOTALL))
def test_the_document_prints_what_its_commands_print(
    gradtool: Run, monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    monkeypatch.chdir(ROOT)
    command, _, expected = block.partition("\n")
    done = gradtool(*shlex.split(command))
    assert (done.out, done.err) == (expected, "")


def test_the_document_prints_what_its_program_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (program,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    (expected,) = re.findall(r"```text\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(program, {})
    assert capsys.readouterr().out == expected


@pytest.fixture
def models(folder: Path) -> Path:
    (folder / "eager.py").write_text(EAGER, encoding="utf-8")
    (folder / "static.py").write_text(STATIC, encoding="utf-8")
    planted(folder / "data.npz", 96, 77)
    return folder


def test_the_smallest_part_of_the_first_bad_batch(gradtool: Run, models: Path) -> None:
    done = gradtool("sweep", "nan", "eager.py", "--rows", "data.npz:32")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[:-1] == [
        "sweep   nan · eager.py · 3 points",
        "over    data.npz, in batches of 32",
        "came    2 ok · 1 finding",
        " point                status   what",
        " data.npz rows 64–95  finding  inf 1/32 in log (eager.py:6): log(0) in 1 of 32 elements",
        "smallest data.npz row 77 alone gives it",
        "   of the first batch with it, data.npz rows 64–95; 8 more runs",
    ]
    assert gradtool("sweep", "nan", "eager.py", "--rows", "data.npz:32", "--set", "scale=1,2", "--seeds", "3").code == 1


def test_json_has_its_schema_and_every_point(gradtool: Run, models: Path) -> None:
    for words in (
        ["stats", "eager.py", "static.py", "--rows", "data.npz:32,48", "--seeds", "0..1"],
        ["nan", "static.py", "--rows", "data.npz:48"],
    ):
        done = gradtool("sweep", *words, "--format", "json")
        Draft202012Validator(schema("sweep")).validate(done.data)
        assert done.data["complete"]
        assert len(done.data["rows"]) == done.data["points"]


def test_a_setting_from_which_gradients_explode(gradtool: Run, models: Path) -> None:
    (models / "loss.py").write_text(
        "import paddle\ndef build(lr=1.0):\n    w = paddle.ones([1])\n    w.stop_gradient = False\n"
        "    return (w * lr * 1e20).square().sum()\n"
    )
    done = gradtool("sweep", "nan", "loss.py", "--set", "lr=1e-4..1:log:5")
    assert done.code == 1
    assert "lr: gradients explode from 0.1; not at 0.01" in done.out.splitlines()
    assert "next: gradtool nan loss.py --arg lr=0.1" in done.out.splitlines()
    assert gradtool("sweep", "nan", "loss.py", "--set", "lr=1e-4,1e-3").code == 0


def test_verdicts_over_models(gradtool: Run, models: Path) -> None:
    (models / "detached.py").write_text(
        "import paddle\ndef build():\n    net = paddle.nn.Linear(2, 1)\n    x = paddle.ones([3, 2])\n"
        "    return (net(x).detach() + paddle.nn.Linear(2, 1)(x)).mean()\n"
    )
    (models / "fine.py").write_text(
        "import paddle\ndef build():\n    return paddle.nn.Linear(2, 1)(paddle.ones([3, 2])).mean()\n"
    )
    (models / "fails.py").write_text("raise ValueError('no')\n")
    done = gradtool("sweep", "why", "--models", "[df]*.py", "--format", "tsv")
    assert done.code == 1
    assert [row[:2] for row in done.cells[1:]] == [["detached.py", "finding"], ["fails.py", "error"], ["fine.py", "ok"]]
    assert gradtool("sweep", "why", "fine.py", "fails.py").code == 4
    told = gradtool("sweep", "why", "fine.py", "fails.py").out.splitlines()
    assert "fails.py 1 0 0 1 fails.py raised ValueError: no" in [" ".join(line.split()) for line in told]


def test_a_model_that_seeds_itself_is_not_swept_by_seeds(gradtool: Run, models: Path) -> None:
    (models / "seeded.py").write_text(
        "import paddle\ndef build():\n    paddle.seed(1)\n"
        "    return paddle.nn.Linear(2, 1)(paddle.randn([3, 2])).mean()\n"
    )
    told = "the seed changes no gradient: the model draws nothing at random, or seeds itself"
    assert told in gradtool("sweep", "stats", "seeded.py", "--seeds", "0..2").out
    (models / "seeded.py").write_text((models / "seeded.py").read_text().replace("    paddle.seed(1)\n", ""))
    assert told not in gradtool("sweep", "stats", "seeded.py", "--seeds", "0..2").out


def test_doubles_are_made_singles_on_demand(gradtool: Run, models: Path) -> None:
    with np.load("data.npz") as arrays:
        np.savez("doubles.npz", **{name: array.astype("float64") for name, array in arrays.items()})
    refused = gradtool("sweep", "nan", "static.py", "--rows", "doubles.npz:48")
    assert refused.code == 4
    assert "must be 'float32', but received 'float64'" in refused.out
    assert "smallest" not in refused.out
    taken = gradtool("sweep", "nan", "static.py", "--rows", "doubles.npz:48", "--dtype", "float32")
    assert taken.code == 1
    assert "smallest doubles.npz row 77 alone gives it" in taken.out


def test_feeds_that_the_shell_found_are_feeds(gradtool: Run, models: Path) -> None:
    for name in ("a", "b"):
        np.savez(f"{name}.npz", x=np.ones((2, 4), "float32"), label=np.ones((2, 1), "float32"))
    done = gradtool("sweep", "nan", "eager.py", "--over", "a.npz", "b.npz")
    assert (done.code, done.out.splitlines()[1]) == (0, "over    2 feeds")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nan", "eager.py"], "one point is no sweep"),
        (["nam", "eager.py", "--seeds", "0,1"], "unknown question 'nam'"),
        (["nan", "--seeds", "0,1"], "which model?"),
        (["nan", "none.py", "--seeds", "0,1"], "no such file: none.py"),
        (["nan", "-", "--seeds", "0,1"], "standard input can be read once"),
        (["nan", "eager.py", "--models", "zoo/*.py"], "--models zoo/*.py: no such file"),
        (["nan", "eager.py", "--over", "*.npy"], "--over *.npy: no such file"),
        (["nan", "eager.py", "--over", "data.npz", "--rows", "data.npz"], "a sweep has one of them"),
        (["nan", "eager.py", "--seeds", "0,1", "--resume"], "--resume goes on with a file of rows"),
        (["nan", "eager.py", "--seeds", "0,1"], "build(x, label, scale=1.0): missing a required argument: 'x'"),
        (["nan", "eager.py", "--rows", "data.npz:8", "--set", "width=1,2"], "unexpected keyword argument 'width'"),
        (["why", "eager.py", "--rows", "data.npz", "--big", "1"], "--big is no option of why"),
        (["nan", "eager.py", "--seeds", "0,1", "--backward", "each"], "answer about each backward pass"),
        (["nan", "eager.py", "--rows", "data.npz", "-o", "r.svgz.png", "--format", "png"], "'png' is not one of"),
    ],
)
def test_nonsense_is_refused_like_by_a_shell(gradtool: Run, models: Path, words: list[str], said: str) -> None:
    done = gradtool("sweep", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert said in done.err


def test_ctrl_c_leaves_what_was_done(gradtool: Run, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carried, count = this_process.compute_row, iter(range(99))

    def pressed(*point: object) -> object:
        if next(count) == 2:
            raise KeyboardInterrupt
        return carried(*point)  # type: ignore[arg-type]

    words = ["sweep", "nan", "eager.py", "--rows", "data.npz:32", "--results", "r.jsonl"]
    with monkeypatch.context() as patch:
        patch.setattr(this_process, "compute_row", pressed)
        done = gradtool(*words)
    assert done.code == 130
    assert done.err == "interrupted after 2 of 3 points; they are in r.jsonl, and --resume goes on with them\n"
    assert "came    2 ok · 1 not reached" in done.out
    assert gradtool(*words).code == 2
    done = gradtool(*words, "--resume")
    assert (done.code, done.err) == (1, "2 of 3 points were in r.jsonl\n")
    assert len([json.loads(line) for line in (models / "r.jsonl").read_text().splitlines()]) == 3
