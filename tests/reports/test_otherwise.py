"""What of a script ran otherwise than without gradtool stands on stderr once, and in JSON; it fits the schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import gradtool.cli as command_line
from tests.cli.conftest import Run
from tests.torch.answers import RUNS as CORPUS

from . import RUNS

SCHEMAS = Path(command_line.__file__).parent / "schemas"


@pytest.mark.parametrize("command", ["backward", "why", "nan", "stats"])
def test_a_script_whose_code_is_compiled_says_that_it_was_not(gradtool: Run, command: str) -> None:
    outcome = gradtool(command, str(CORPUS / "r_compiled.torchrun"), "--format", "json")
    answer = json.loads(outcome.out)
    (entry,) = answer["ran_otherwise"]
    assert (entry["name"], entry["line"]) == ("uncompiled", "r_compiled.py:27")
    assert outcome.err.count("ran uncompiled") == 1
    jsonschema.validate(answer, json.loads((SCHEMAS / f"{command}.json").read_text("utf-8")))


@pytest.mark.parametrize(
    "run", [CORPUS / "r_mlp.torchrun", RUNS / "torch_dynamo_optimize.torchrun"], ids=lambda r: r.stem
)
def test_other_scripts_do_not(gradtool: Run, run: Path) -> None:
    """``backend="eager"`` runs the program's own operators."""
    outcome = gradtool("why", str(run), "--format", "json")
    assert "ran_otherwise" not in json.loads(outcome.out)
    assert "uncompiled" not in outcome.err


def test_check_counts_it_to_what_was_not_looked_at(gradtool: Run) -> None:
    outcome = gradtool("check", "--no-cache", str(CORPUS / "r_compiled.torchrun"))
    assert outcome.out.count("r_compiled.py:27: what torch.compile was given ran uncompiled") == 1
