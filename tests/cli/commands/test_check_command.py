"""``gradtool check``, ``rules`` and ``rule``: findings, forms, exit codes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line
from gradtool.engine.gate import rules
from tests.cli.conftest import Run

SCHEMAS = Path(command_line.__file__).parent / "schemas"
DETACHED = rules.every()["GT103"]
UNUSED = rules.every()["GT101"]


def schema(name: str) -> dict[str, object]:
    read: dict[str, object] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return read


@pytest.fixture
def models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model with an error, one with a warning, and one with neither; they are checked in this process."""
    monkeypatch.setenv("GRADTOOL_CHECK_JOBS", "0")
    (folder / "src").mkdir()
    for name, text in (("bad", DETACHED.wrong), ("forgotten", UNUSED.wrong), ("good", DETACHED.right)):
        (folder / "src" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_findings_are_told_with_line_cause_and_advice(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/bad.py", "src/good.py")
    assert done.code == 1
    assert "GT103 detached · error: encoder.weight has grad = None: detached\n  --> src/bad.py:8:1" in done.out
    assert "   | code = encoder(x).detach()" in done.out
    assert "the same holds for 1 more: encoder.bias" in done.out
    assert done.out.endswith("Found 1 error in 2 models.\n")


def test_what_is_right_is_told_in_a_line(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/good.py")
    assert done.code == 0
    count = sum(r.always and not r.golden for r in rules.every().values())
    assert done.out == f"No findings in one pass: 1 model, {count} rules.\n"


def test_the_concise_form_is_what_editors_read(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/forgotten.py", "src/bad.py", "--format", "concise")
    assert done.out.splitlines() == [
        "src/bad.py:8:1: GT103 encoder.weight has grad = None: detached (and 1 more)",
        "src/forgotten.py:10:9: GT101 net.norm.weight has grad = None: unused in forward (and 1 more)",
        "Found 1 error and 1 warning in 2 models.",
    ]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["src/forgotten.py"], 0),
        (["src/forgotten.py", "--fail-on", "warning"], 1),
        (["src/bad.py", "--exit-zero"], 0),
        (["src/bad.py", "--ignore", "GT103"], 0),
        (["src/bad.py", "--select", "GT2"], 0),
        (["src/bad.py", "--select", "GT2", "--extend-select", "detached"], 1),
        (["src/bad.py", "--select", "GT1,GT2", "--ignore", "unused-parameter"], 1),
    ],
)
def test_exit_codes_follow_what_was_selected(gradtool: Run, models: Path, words: list[str], code: int) -> None:
    assert gradtool("check", *words).code == code


def test_json_has_a_schema_and_paths_below_the_working_folder(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/bad.py", "src/forgotten.py", "--format", "json")
    answer = json.loads(done.out)
    jsonschema.validate(answer, schema("check"))
    assert answer["counts"] == {"error": 1, "warning": 1, "note": 0}
    assert [r["source"]["file"] for r in answer["results"]] == ["src/bad.py", "src/forgotten.py"]
    lines = gradtool("check", "src/bad.py", "src/forgotten.py", "--format", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == answer["results"]


def test_several_forms_are_written_in_one_run(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/bad.py", "--out", "concise=a.txt", "--out", "json=b.json", "-o", "c.txt")
    assert done.code == 1
    assert done.out == ""
    assert "GT103" in Path("a.txt").read_text(encoding="utf-8")
    assert json.loads(Path("b.json").read_text(encoding="utf-8"))["findings"] == 1
    assert "-->" in Path("c.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["src/nothing.py"], "no such file"),
        (["src/bad.py", "--select", "GT999"], "unknown rule 'GT999'"),
        (["src/bad.py", "--format", "sariff"], "unknown form 'sariff'"),
        (["src/bad.py", "--out", "json"], "is not FORM=FILE"),
        ([], "no model is named"),
    ],
)
def test_what_cannot_be_is_refused(gradtool: Run, models: Path, words: list[str], said: str) -> None:
    done = gradtool("check", *words)
    assert done.code == 2
    assert said in done.err
    assert not done.out


def test_two_runs_are_the_same_bytes(gradtool: Run, models: Path) -> None:
    words = ("check", "src/bad.py", "src/forgotten.py", "--format", "json")
    assert gradtool(*words).out == gradtool(*words).out


def test_the_rules_are_listed_and_explained(gradtool: Run) -> None:
    listed = gradtool("explain", "--rules", "--format", "json")
    answer = json.loads(listed.out)
    jsonschema.validate(answer, schema("rules"))
    assert [r["code"] for r in answer["rules"]] == [*rules.every()]
    one = gradtool("explain", "detached", "--format", "json")
    jsonschema.validate(json.loads(one.out), schema("rule"))
    text = gradtool("explain", "GT103").out
    assert DETACHED.why in text
    assert "    code = encoder(x).detach()" in text
    assert gradtool("explain", "GT1").code == 2


def test_words_after_two_dashes_are_the_scripts(gradtool: Run, folder: Path) -> None:
    text = "import sys\n" + DETACHED.wrong.replace(".detach()", "\nif 'cut' in sys.argv:\n    code = code.detach()")
    (folder / "train.py").write_text(text, encoding="utf-8")
    assert gradtool("check", "train.py", "--", "cut").code == 1
    assert gradtool("check", "train.py", "--", "--whole", "1").code == 0
    done = gradtool("diff", "train.py", "train.py", "--exit-code", "--", "cut")
    assert done.code == 0


def test_a_model_is_compared_with_its_golden_file(gradtool: Run, models: Path) -> None:
    model = models / "src" / "good.py"
    done = gradtool("check", "src/good.py", "--golden", "good.gt.txt")
    assert done.code == 2
    assert "there is no golden file good.gt.txt\n  hint  --update writes it" in done.err
    done = gradtool("check", "src/good.py", "--golden", "good.gt.txt", "--update")
    assert (done.code, "wrote good.gt.txt" in done.err) == (0, True)
    kept = (models / "good.gt.txt").read_text(encoding="utf-8")
    # Lines may move.
    text = model.read_text(encoding="utf-8")
    model.write_text(f"# the same\n\n{text}", encoding="utf-8")
    done = gradtool("check", "src/good.py", "--golden", "good.gt.txt", "--update")
    assert (done.code, "wrote" in done.err) == (0, False)
    # What takes a gradient away is told by what it does to parameters, and by where operators went.
    model.write_text(DETACHED.wrong, encoding="utf-8")
    done = gradtool("check", "src/good.py", "--golden", "good.gt.txt", "--select", "GT4", "--format", "concise")
    assert done.code == 1
    assert (
        "src/good.py:6:1: GT401 encoder.bias gets no gradient any more: cut: detached, good.py:8 (and 1 more)"
        in done.out
    )
    assert "GT402" in done.out
    assert (models / "good.gt.txt").read_text(encoding="utf-8") == kept


def test_golden_files_of_several_models_are_a_folder(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/good.py", "src/forgotten.py", "--golden", "graphs", "--update")
    assert done.code == 0
    assert sorted(f.name for f in (models / "graphs").iterdir()) == ["src_forgotten.gt.txt", "src_good.gt.txt"]
    assert gradtool("check", "src/good.py", "src/forgotten.py", "--golden", "graphs").code == 0
    done = gradtool("check", "src/good.py", "src/forgotten.py", "--golden", "one.gt.txt")
    assert (done.code, "there are 2 models" in done.err) == (2, True)


def test_rules_about_golden_files_need_one(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/good.py", "--select", "GT4")
    assert (done.code, "GT4 compares with a golden file" in done.err) == (2, True)
    assert gradtool("check", "src/good.py", "--select", "ALL", "--ignore", "GT402,GT3,GT5").code == 0
    done = gradtool("check", "src/good.py", "--update")
    assert (done.code, "--golden FILE.gt.txt says which" in done.err) == (2, True)


def test_a_baseline_lets_new_findings_count_alone(gradtool: Run, models: Path) -> None:
    done = gradtool("check", "src/*.py", "--write-baseline", "--baseline", "known.json")
    assert (done.code, done.out.startswith("No findings: 3 models, ")) == (0, True)
    assert done.out.endswith(" rules (2 in the baseline).\n")
    assert "known.json: 2 known findings" in done.err
    text = Path("known.json").read_text(encoding="utf-8")
    assert gradtool("check", "src/*.py", "--write-baseline", "--baseline", "known.json").code == 0
    assert Path("known.json").read_text(encoding="utf-8") == text
    moved = "\n\n" + Path("src/bad.py").read_text(encoding="utf-8").replace("= 1", "= 1  # moved")
    Path("src/bad.py").write_text(moved, encoding="utf-8")
    assert gradtool("check", "src/bad.py", "src/good.py", "--baseline", "known.json").code == 0
    Path("src/good.py").write_text(DETACHED.wrong, encoding="utf-8")
    Path("src/bad.py").write_text(DETACHED.right, encoding="utf-8")
    done = gradtool("check", "src/bad.py", "src/good.py", "--baseline", "known.json")
    assert (done.code, "src/good.py:8:1" in done.out) == (1, True)
    assert "1 findings of the baseline are found no longer" in done.err
    assert "no such baseline: none.json" in gradtool("check", "src/bad.py", "--baseline", "none.json").err
    Path("src/raises.py").write_text("1 / 0\n", encoding="utf-8")
    assert gradtool("check", "src/raises.py", "--write-baseline").code == 1


def test_what_files_say_of_rules_paths_and_parameters(gradtool: Run, models: Path) -> None:
    def configured(text: str) -> tuple[int, str]:
        Path("gradtool.toml").write_text(text, encoding="utf-8")
        done = gradtool("check", "src/bad.py", "src/forgotten.py", "--format", "concise")
        return done.code, done.out + done.err

    assert configured("")[0] == 1
    assert configured('[severities]\nGT103 = "note"')[0] == 0
    assert configured('[severities]\nunused-parameter = "error"\ndetached = "note"')[0] == 1
    assert configured('[per-file-ignores]\n"src/bad.py" = ["GT1"]')[0] == 0
    assert configured('[per-parameter-ignores]\n"encoder.*" = ["detached"]')[0] == 0
    assert configured('[per-parameter-ignores]\n"encoder.weight" = ["detached"]')[0] == 1
    assert configured('[[overrides]]\nfiles = ["src/bad.py"]\nignore = ["GT103"]')[0] == 0
    large = "[thresholds.GT203]\nnorm = 1e-9"
    assert "GT203" in configured(large)[1]
    assert "GT203 has no threshold 'size'" in configured("[thresholds.GT203]\nsize = 1")[1]
    bias = large + '\n[[overrides]]\nparameters = ["*.bias"]\n'
    head = configured(bias + "thresholds.GT203.norm = 1e9")[1]
    assert "GT203 the gradient of decoder.weight" in head
    assert "(and" not in next(x for x in head.splitlines() if "GT203" in x)
    assert "(and 1 more)" in next(x for x in configured(large)[1].splitlines() if "GT203" in x)
    for text, wrong in (
        (bias + "thresholds.GT501.mebibytes = 1", "gradtool.toml:3: GT501 has no thresholds of single parameters"),
        (bias + 'select = ["GT1"]', "gradtool.toml:3: overrides: select is about models, and parameters are not"),
        ("[[overrides]]\nignore = []", "gradtool.toml:1: overrides: files or parameters is missing"),
    ):
        code, said = configured(text)
        assert (code, wrong in said) == (2, True), said
    assert "gradtool.toml:1: GT203 has no threshold 'size'" in configured("[thresholds.GT203]\nsize = 1")[1]
    code, said = configured('[per-file-ignores]\n"src" = ["GT1O3"]')
    assert (code, "gradtool.toml:2: unknown rule 'GT1O3'" in said) == (2, True)


def test_a_bias_after_one_small_step_is_no_measure_for_its_gradient(gradtool: Run, folder: Path) -> None:
    text = (
        "import paddle\nnet = paddle.nn.Linear(4, 1)\n"
        "opt = paddle.optimizer.Adam(1e-4, parameters=net.parameters())\n"
        "for _ in range(2):\n    loss = (net(paddle.ones([8, 4])) - 1).square().mean()\n"
        "    loss.backward()\n    opt.step()\n    opt.clear_grad()\n"
    )
    (folder / "model.py").write_text(text, encoding="utf-8")
    done = gradtool("check", "model.py", "--select", "GT203")
    assert done.code == 0, done.out


def test_the_models_are_listed_without_a_run(gradtool: Run, models: Path) -> None:
    Path("gradtool.toml").write_text('[[models]]\ntarget = "src/good.py"\nname = "fine"\n', encoding="utf-8")
    assert gradtool("check", "--show-files").out == "src/good.py\n"
    done = gradtool("check", "src/bad.py", "src/good.py", "src/bad.py", "--show-files")
    assert (done.code, done.out) == (0, "src/bad.py\nsrc/good.py\n")
    assert gradtool("check", "src/bad.py", "--output-format", "badge").out.startswith("<svg")


def test_configured_models_are_checked_without_a_word(gradtool: Run, models: Path) -> None:
    Path("gradtool.toml").write_text('[[models]]\ntarget = "src/good.py"\nname = "fine"\n', encoding="utf-8")
    assert json.loads(gradtool("check", "--format", "json").out)["models"] == ["fine"]
    assert json.loads(gradtool("check", "--isolated", "src", "--format", "json").out or "{}") == {}


def test_a_package_is_run_as_a_module(gradtool: Run, folder: Path) -> None:
    (folder / "package").mkdir()
    for name, text in (("__init__", ""), ("__main__", "from . import train\n"), ("train", DETACHED.wrong)):
        (folder / "package" / f"{name}.py").write_text(text, encoding="utf-8")
    for word in ("package", "package.train"):
        done = gradtool("check", "-m", word, "--select", "GT103", "--format", "concise")
        assert done.code == 1, done.err
        assert done.out.startswith("package/train.py:8:1: GT103")


def test_a_baseline_is_the_same_from_every_folder(gradtool: Run, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gradtool("check", "src/bad.py", "--write-baseline", "--baseline", "known.json").code == 0
    text = Path("known.json").read_text(encoding="utf-8")
    monkeypatch.chdir("src")
    done = gradtool("check", "bad.py", "--baseline", "../known.json")
    assert (done.code, done.out.endswith("(1 in the baseline).\n")) == (0, True)
    assert gradtool("check", "bad.py", "--write-baseline", "--baseline", "../known.json").code == 0
    assert Path("../known.json").read_text(encoding="utf-8") == text


TRAINING = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(6):
    x = paddle.rand([6, 3]) + 0.1
    if step == 3:
        x[2, 1] = 0.0
    loss = net(paddle.log(x)).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


def test_so_many_steps_of_training_are_looked_at(gradtool: Run, folder: Path) -> None:
    Path("train.py").write_text(TRAINING, encoding="utf-8")

    def found(*words: str) -> list[str]:
        done = gradtool("check", *words, "--ignore", "GT2,GT603", "--format", "json")
        return [f"{f['code']} {f['message']}" for f in done.data["results"]]

    assert found("train.py") == []
    (turns,) = found("train.py", "--train", "4")
    assert turns.startswith("GT705 the gradient of net.weight is not finite from step 4 on")
    assert found("train.py", "--train", "3") == []
    Path("gradtool.toml").write_text("[check]\ntrain = 4\n", encoding="utf-8")
    assert found("train.py") == [turns]
    Path("build.py").write_text(
        "import paddle\ndef build():\n    return paddle.nn.Linear(4, 1)(paddle.ones([2, 4])).mean()\n"
    )
    (untried,) = found("build.py")
    assert untried.startswith("GT901 gradients over the steps of a training: build.py runs no backward pass itself")
    assert gradtool("check", "train.py", "--train", "0").code == 2


PRINTS = """\
import paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = paddle.nn.Linear(4, 1)
    def forward(self, x):
        print("forward", list(x.shape))
        return self.body(x)

net = Net()
print("a loss follows")
net(paddle.ones([2, 4])).mean().backward()
"""


def test_what_a_model_prints_is_shown_once_however_often_rules_run_it(gradtool: Run, folder: Path) -> None:
    Path("prints.py").write_text(PRINTS, encoding="utf-8")
    done = gradtool("check", "prints.py", "--no-cache")
    assert done.err == "a loss follows\nforward [2, 4]\n"


def test_a_nan_that_makes_a_file_raise_is_told_with_the_error(gradtool: Run, folder: Path) -> None:
    text = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    p = net(paddle.rand([8, 4])) - 5.0
    chosen = paddle.multinomial(paddle.nn.functional.softmax(p))
    p.sqrt().mean().backward()
    opt.step()
    opt.clear_grad()
"""
    Path("draws.py").write_text(text, encoding="utf-8")
    done = gradtool("check", "draws.py", "--format", "concise")
    lines = done.out.splitlines()
    assert done.code == 1
    assert [line.split()[:2] for line in lines[:-1]] == [["draws.py:8:5:", "GT903"], ["draws.py:9:5:", "GT201"]]
    assert "must be finite" in lines[0]
    assert "sqrt.0 makes" in lines[1]
