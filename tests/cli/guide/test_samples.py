"""The models that come with gradtool: each is answered as it says, listed, shown, and copied without loss."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import jsonschema
import pytest

from gradtool.cli.guide import samples
from tests.cli.conftest import Run
from tests.house.test_schemas import schema


@pytest.mark.parametrize("name", samples.names())
def test_the_command_of_a_sample_says_what_the_sample_announces(name: str, gradtool: Run, folder: Path) -> None:
    sample = samples.sample(name)
    (folder / sample.file).write_text(sample.text, encoding="utf-8")
    program, *words = shlex.split(sample.command)
    done = gradtool(*words)
    assert program == "gradtool"
    assert done.code in (0, 1, 4)
    assert sample.answer in done.out
    assert sample.file in sample.command


def test_samples_are_listed_with_their_commands(gradtool: Run) -> None:
    done = gradtool("self", "samples")
    assert done.code == 0
    assert gradtool("self", "samples", "list").out == done.out
    for sample in map(samples.sample, samples.names()):
        assert f"{sample.name}\n  {sample.about}\n  {sample.command}\n" in done.out


def test_a_sample_is_shown_as_it_is(gradtool: Run) -> None:
    assert gradtool("self", "samples", "show", "training").out == samples.sample("training").text


def test_samples_are_copied_and_nothing_is_overwritten(gradtool: Run, folder: Path) -> None:
    assert gradtool("self", "samples", "copy", "training").out.startswith("wrote training.py\n")
    (folder / "training.py").write_text("mine", encoding="utf-8")
    refused = gradtool("self", "samples", "copy", "all", ".")
    assert refused.code == 2
    assert (folder / "training.py").read_text(encoding="utf-8") == "mine"
    assert [file.name for file in folder.iterdir()] == ["training.py"]
    assert gradtool("self", "samples", "copy", "all", "new/models").code == 0
    written = {file.stem: file.read_text(encoding="utf-8") for file in (folder / "new/models").iterdir()}
    assert written == {name: samples.sample(name).text for name in samples.names()}


def test_what_is_no_sample_is_an_error(gradtool: Run) -> None:
    done = gradtool("self", "samples", "show", "trainin")
    assert done.code == 2
    assert "closest: training" in done.err
    assert gradtool("self", "samples", "copy").code == 2


@pytest.mark.parametrize("words", [[], ["copy", "training"]])
def test_samples_as_json(words: list[str], gradtool: Run) -> None:
    jsonschema.validate(json.loads(gradtool("self", "samples", *words, "--format", "json").out), schema("samples"))
