"""The benchmarks run and print what they measure; how long anything takes is not tested."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.sampling import sampled

ROOT = Path(__file__).parents[2]


def printed(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", *arguments], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout.splitlines()


def test_every_subject_is_listed_with_what_it_measures() -> None:
    lines = dict(line.split(maxsplit=1) for line in printed())
    assert {"commands", "depth", "dump", "eager", "memory", "programs", "recompute", "sparse", "why"} <= lines.keys()
    assert all(text.endswith(".") for text in lines.values())


@pytest.fixture(scope="module")
def outputs() -> dict[tuple[str, ...], str]:
    """What each subject prints, all of them in one process: most of the time goes into importing what they measure."""
    code = "from tests.bench.test_bench_subjects import print_all; print_all()"
    runs = json.dumps([words for words, _ in TAKEN])
    done = subprocess.run(
        [sys.executable, "-c", code, runs], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    return {tuple(words): text for words, text in json.loads(done.stdout.splitlines()[-1])}


def print_all() -> None:
    """Run the subjects one after the other, and print their outputs as JSON."""
    told = []
    for words in json.loads(sys.argv[1]):
        sys.argv = ["tests.bench", *words]
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
            main()
        told.append((words, out.getvalue()))
    print(json.dumps(told))


RUNS = [
    (["convolutions", "--layers", "1x1", "--rounds", "1"], ["layer", "1x1"]),
    (["depth", "--sizes", "50"], ["size", "50"]),
    (["diff", "4"], ["layers", "4"]),
    (["dump", "--chains", "20"], ["graph", "twelve", "chain"]),
    (["eager", "--rounds", "1", "--runs", "1"], ["add", "multiply", "mixed"]),
    (["kernels", "--layers", "avg_pool 2,gru", "--rounds", "1"], ["layer", "avg_pool", "gru"]),
    (["memory", "--depths", "2", "--width", "4", "--batch", "8"], ["depth", "2"]),
    (["over_time", "--widths", "4", "--steps", "2", "--rounds", "1"], ["width", "4", "target:"]),
    (["pages", "--sizes", "30", "--shapes", "wide"], ["wide", "30"]),
    (["pictures", "--sizes", "30", "--shapes", "chain", "--limit", "1"], ["chain", "30", "targets:"]),
    (["programs", "--sizes", "20", "--shapes", "chain"], ["chain", "20"]),
    (["sparse", "--rows", "20", "--batch", "4", "--steps", "1"], ["rows", "20"]),
    (["step", "--models", "ctr", "--runs", "1"], ["ms", "ctr", "ratio"]),
    (["sweep", "--points", "4", "--layers", "1"], ["work", "sweep"]),
    (["why", "--sizes", "40", "--runs", "1"], ["mode", "static", "dynamic", "target:"]),
    (["questions", "--size", "20", "--commands", "stats --memory"], ["command", "bare", "stats --memory"]),
    (["zoo", "--models", "pinn", "--rounds", "1", "--runs", "1"], ["model", "pinn"]),
    (["recompute", "--layers", "4", "--blocks", "1", "--runs", "1"], ["model", "mlp", "transformer", "dynamic"]),
]
"""Each subject, briefly, and the first words of some lines that it prints."""

TAKEN = sampled(RUNS, lambda run: run[0][0], one_in=6)
"""Those that run: one in three, or all with ``--whole``."""


@pytest.mark.parametrize(("arguments", "rows"), TAKEN)
def test_a_subject_prints_its_rows(outputs: dict[tuple[str, ...], str], arguments: list[str], rows: list[str]) -> None:
    first = [line.split()[0] for line in outputs[tuple(arguments)].splitlines() if line.strip()]
    assert set(rows) <= set(first)


def test_the_table_of_processes_is_that_of_the_measured_file() -> None:
    table = "\n".join(printed("memory", "--table", "docs/measured/memory.json"))
    assert table in (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")


def test_the_table_of_public_models_is_that_of_the_measured_file() -> None:
    table = "\n".join(printed("zoo", "--table", "docs/measured/zoo.json"))
    assert table in (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")


def test_the_tables_of_steps_are_those_of_the_measured_file() -> None:
    told, *tables = "\n".join(printed("step", "--table", "docs/measured/step.json")).split("\n\n")
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    assert len(tables) == 2
    assert all(part in text for part in (told, *tables))


@pytest.mark.parametrize(("engine", "model"), [("gradtool", "ctr"), ("static", "ctr"), ("gradtool", "bert")])
def test_a_process_tells_what_it_holds(engine: str, model: str) -> None:
    command = [sys.executable, "-m", "tests.bench.memory_process", engine, model, "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    held = json.loads(done.stdout)
    assert 0 < held["imported"] < held["peak"]
    assert ("plan" in held) == (engine == "static")
