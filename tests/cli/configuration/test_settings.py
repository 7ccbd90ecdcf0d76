"""Settings from files and the environment: which of them holds, where it is from, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line
from gradtool.cli import commands, configuration
from gradtool.cli.configuration import files, options, schema
from tests.cli.conftest import Run

SCHEMAS = Path(command_line.__file__).parent / "schemas"
MODEL = """\
import paddle
x = paddle.rand([2, 3])
net = paddle.nn.Linear(3, 1)
loss = net(x).mean()
loss.backward()
"""
PROJECT = """\
[project]
name = "gradtool-user"

[tool.gradtool]
seed = 1
color = "never"

[tool.gradtool.check]
select = [
  "GT1",  # [tool.gradtool.nothing]
  "GT2",
]
format = "concise"

[[tool.gradtool.models]]
target = "a.py"

[[tool.gradtool.models]]
target = "b.py"
seed = 3

[tool.gradtool.severities]
GT203 = "error"
"""


def written(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def held(gradtool: Run, *words: str) -> dict[str, tuple[object, str]]:
    """Of ``gradtool self config``, by option: value and origin."""
    answer = json.loads(gradtool("self", "config", *words, "--format", "json").out)
    return {row["option"]: (row["value"], row["origin"]) for row in answer["settings"]}


def test_the_stronger_file_the_environment_and_the_command_line(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder, "pyproject.toml", PROJECT)
    assert held(gradtool, "check") == {
        "seed": (1, "pyproject.toml:5"),
        "select": (["GT1", "GT2"], "pyproject.toml:9"),
        "format": ("concise", "pyproject.toml:13"),
    }
    written(folder, "gradtool.toml", "seed = 2\n[check]\nseed = 4\n")
    assert held(gradtool, "check")["seed"] == (4, "gradtool.toml:3")
    assert held(gradtool, "why")["seed"] == (2, "gradtool.toml:1")
    monkeypatch.setenv("GRADTOOL_SEED", "7")
    assert held(gradtool, "check")["seed"] == ("7", "GRADTOOL_SEED")
    monkeypatch.setenv("GRADTOOL_CHECK_SEED", "8")
    assert held(gradtool, "check")["seed"] == ("8", "GRADTOOL_CHECK_SEED")
    assert held(gradtool, "why", "--isolated")["seed"] == ("7", "GRADTOOL_SEED")


def test_values_arrive(gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder, "m.py", MODEL)
    written(folder, "gradtool.toml", 'format = "json"\n[stats]\nformat = "tsv"\nquiet = true\n')
    assert gradtool("why", "m.py").out.startswith("{")
    assert "\t" in gradtool("stats", "m.py").out
    assert not gradtool("why", "m.py", "--format", "text").out.startswith("{")
    assert not gradtool("why", "m.py", "--isolated").out.startswith("{")
    monkeypatch.setenv("GRADTOOL_FORMAT", "text")
    assert not gradtool("why", "m.py").out.startswith("{")


def test_a_switch_of_the_environment(gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder, "m.py", MODEL)
    monkeypatch.setenv("GRADTOOL_CHECK_SELECT", "GT101 detached")
    monkeypatch.setenv("GRADTOOL_SELEKT", "x")
    done = gradtool("check", "m.py", "--format", "json")
    assert json.loads(done.out)["rules"] == ["GT101", "GT103"]
    assert "GRADTOOL_SELEKT in the environment is no option of gradtool" in done.err
    monkeypatch.setenv("GRADTOOL_STEPS", "x")
    assert "GRADTOOL_STEPS: 'x' is neither" in gradtool("check", "m.py").err


def test_files_are_found_upwards_the_nearest_counts(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = folder / "src" / "deep"
    below.mkdir(parents=True)
    written(folder, "gradtool.toml", "seed = 1\n")
    written(folder / "src", "pyproject.toml", '[project]\nname = "gradtool"\n[tool.ruff]\n')
    monkeypatch.chdir(below)
    assert held(gradtool, "why")["seed"][0] == 1
    written(folder / "src", "pyproject.toml", "[tool.gradtool]\nseed = 2\n")
    assert held(gradtool, "why")["seed"][0] == 2
    written(below, "other.toml", "seed = 3\n")
    assert held(gradtool, "why", "--config", "other.toml")["seed"] == (3, "other.toml:1")
    monkeypatch.setenv("GRADTOOL_CONFIG", "other.toml")
    assert held(gradtool, "why")["seed"][0] == 3
    monkeypatch.setenv("GRADTOOL_ISOLATED", "1")
    assert held(gradtool, "why") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sed = 1", "gradtool.toml:1: sed: unknown option, command or table (closest: seed"),
        ("[check]\n\nselct = []", "gradtool.toml:3: check.selct: unknown option (closest: select"),
        ('seed = "x"', "gradtool.toml:1: seed: expected an integer, came 'x'"),
        ("quiet = 1", "quiet: expected true or false, came 1"),
        ('[check]\nselect = "GT1"', "check.select: expected a list, each a text, came 'GT1'"),
        ('color = "red"', "color: expected one of auto, always, never, came 'red'"),
        ('[why]\nsteps = "many"', "gradtool.toml:2: steps: 'many' is neither a number"),
        ("[[models]]\nseed = 1", "gradtool.toml:1: models: target is missing"),
        (
            '[[models]]\ntarget = "a"\n[[models]]\ntarget="b"\nmod = 1',
            "gradtool.toml:5: models.mod: unknown key of a model",
        ),
        ("[severities]\nGT203 = 'bad'", "severities.GT203: expected one of error, warning, note"),
        ("[thresholds.GT203]\nnorm = 'x'", "thresholds.GT203.norm: expected a number"),
        ('[backward]\ncallbacks = ["m:f"]', "backward.callbacks: it runs code"),
        ('[why]\noutput = "../x"', "../x lies outside the folder of gradtool.toml"),
        ("seed = ", "gradtool.toml is not TOML"),
        ("check = 1", "check: expected a table, came 1"),
    ],
)
def test_what_a_file_cannot_say_is_refused_with_its_line(gradtool: Run, folder: Path, text: str, said: str) -> None:
    written(folder, "m.py", MODEL)
    written(folder, "gradtool.toml", text)
    done = gradtool("why", "m.py")
    assert done.code == 2
    assert said in done.err
    assert not done.out


def test_everything_that_is_wrong_is_told_at_once(gradtool: Run, folder: Path) -> None:
    written(folder, "gradtool.toml", "a = 1\nb = 2\n")
    assert gradtool("self", "config").err.count("unknown option") == 2
    assert gradtool("self", "config", "--isolated").code == 0
    assert "no such file: n.toml" in gradtool("self", "config", "--config", "n.toml").err


def test_config_shows_files_options_and_tables(gradtool: Run, folder: Path) -> None:
    written(folder, "pyproject.toml", PROJECT)
    text = gradtool("self", "config", "check").out
    assert "read: pyproject.toml" in text
    assert '{"target": "b.py", "seed": 3}  pyproject.toml:18' in text
    answer = json.loads(gradtool("self", "config", "--all", "--format", "json").out)
    jsonschema.validate(answer, json.loads((SCHEMAS / "config.json").read_text(encoding="utf-8")))
    assert len(answer["settings"]) == sum(len(s) for s in options.options_by_command().values())
    assert "unknown command 'chek'" in gradtool("self", "config", "chek").err


def test_paths_in_a_file_are_below_its_folder(gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "src").mkdir()
    written(folder / "src", "m.py", MODEL)
    written(folder, "gradtool.toml", '[why]\noutput = "why.txt"\n')
    monkeypatch.chdir(folder / "src")
    assert gradtool("why", "m.py").out == ""
    assert "2 of 2 parameters" in (folder / "why.txt").read_text(encoding="utf-8")


def test_every_option_of_every_command_can_be_set() -> None:
    for name in commands.every():
        table = schema.schema()
        for part in options.section(name):
            table = table["properties"][part]
        every = options.command_options(name, commands.load(name)).values()
        forms = {options.section(form)[-1] for form in commands.forms(name)}
        assert {*table["properties"]} == {s.key for s in every if s.refusal is None} | forms
    assert {"seed", "loss", "mode"} <= {*schema.schema()["properties"]}


def test_a_form_has_a_table_and_variables_of_its_own(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gradtool.toml").write_text('seed = 3\n[stats]\nworst = 2\n[stats.time]\nby = "layer"\n')
    monkeypatch.setenv("GRADTOOL_STATS_MEMORY_TOP", "4")
    answer = json.loads(gradtool("self", "config", "stats", "--format", "json").out)
    rows = {(r["command"], r["option"]): (r["value"], r["origin"]) for r in answer["settings"]}
    assert rows[("stats --time", "by")] == ("layer", "gradtool.toml:5")
    assert rows[("stats --memory", "top")] == ("4", "GRADTOOL_STATS_MEMORY_TOP")
    assert rows[("stats", "worst")] == (2, "gradtool.toml:3")
    assert rows[("stats --memory", "seed")] == rows[("stats", "seed")] == (3, "gradtool.toml:1")
    (folder / "gradtool.toml").write_text('[stats.memory]\nby = "layer"\n')
    assert "stats.memory.by: unknown option" in gradtool("self", "config").err


def test_the_schema_that_is_shipped_is_the_table() -> None:
    """Else ``gradtool self config --isolated --schema -o cli/schemas/configuration.json`` writes it anew."""
    assert (SCHEMAS / "configuration.json").read_text(encoding="utf-8") == schema.text()


def test_the_schema_takes_what_gradtool_takes() -> None:
    import tomllib

    validator = jsonschema.Draft202012Validator(schema.schema())
    validator.validate(tomllib.loads(PROJECT)["tool"]["gradtool"])
    for wrong in ("sed = 1", "seed = 'x'", "[check]\nselct = []", "[[models]]\nseed = 1", "color = 'red'"):
        assert not validator.is_valid(tomllib.loads(wrong))


def test_lines_of_keys() -> None:
    text = 'a = """\n[b]\nc = 1\n"""\n[b]\n# c\nc = [\n 1,\n]\nd.e = 2\n[[f]]\n[f.g]\nh = 1\n[[f]]\nh = { i = 2 }\n'
    assert files.lines(text) == {
        ("a",): 1,
        ("b",): 5,
        ("b", "c"): 7,
        ("b", "c", 0): 7,
        ("b", "d"): 10,
        ("b", "d", "e"): 10,
        ("f", 0): 11,
        ("f", 0, "g"): 12,
        ("f", 0, "g", "h"): 13,
        ("f", 1): 14,
        ("f", 1, "h"): 15,
        ("f", 1, "h", "i"): 15,
    }


def test_without_files_nothing_is_loaded(folder: Path) -> None:
    (folder / "src").mkdir()
    assert configuration.nearest(str(folder / "src")) == []
    written(folder, "pyproject.toml", "[tool.ruff]\n")
    assert configuration.nearest(str(folder / "src")) == []
