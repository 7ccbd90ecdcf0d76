"""What pipelines and editors are given, run as they would run it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from sarif_pydantic import Sarif

from gradtool.engine.gate import rules
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "gradtool"
DETACHED = rules.every()["GT103"]


def environment(**more: str) -> dict[str, str]:
    """That of a runner: the command is on the path, and nothing colours or configures it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GRADTOOL_", "GITHUB_", "INPUT_"))}
    folder = str(Path(sys.executable).parent)
    return {**kept, "PATH": f"{folder}{os.pathsep}{kept.get('PATH', '')}", **more}


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def pull_request(tmp_path: Path) -> Path:
    """A repository in which a branch detaches the encoder, adds a model and leaves another one as it is."""
    folder = tmp_path / "repository"
    (folder / "models").mkdir(parents=True)
    for name in ("encoder", "steady"):
        (folder / "models" / f"{name}.py").write_text(DETACHED.right, encoding="utf-8")
    named = '[[models]]\ntarget = "models/steady.py"\nname = "calm"\n'  # which no revision has a file of
    (folder / "gradtool.toml").write_text(named, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "before")
    git(folder, "checkout", "-qb", "change")
    (folder / "models" / "encoder.py").write_text(DETACHED.wrong, encoding="utf-8")
    (folder / "models" / "steady.py").write_text(f"# moved\n\n{DETACHED.right}", encoding="utf-8")
    (folder / "models" / "young.py").write_text(DETACHED.right, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "after")
    return folder


def inputs() -> dict[str, str]:
    """Name of an input -> its default, as the action's file has them."""
    text = (ACTION / "action.yml").read_text(encoding="utf-8")
    block = text[text.index("\ninputs:") : text.index("\noutputs:")]
    found = re.findall(r"^  ([\w-]+):\n    description: .+\n    default: (.*)$", block, re.MULTILINE)
    return {name: default.strip('"') for name, default in found}


def run_action(folder: Path, **given: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """The action's script as the runner runs it: the process, its outputs, the summary."""
    output, summary = folder.parent / "output", folder.parent / "summary"
    for file in (output, summary):
        file.write_text("", encoding="utf-8")
    values = inputs() | {name.replace("_", "-"): value for name, value in given.items()}
    named = {f"INPUT_{name.upper().replace('-', '_')}": value for name, value in values.items() if name != "version"}
    done = subprocess.run(
        [sys.executable, str(ACTION / "run.py")],
        cwd=folder,
        env=environment(GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(summary), **named),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
    return done, outputs, summary.read_text(encoding="utf-8")


def test_a_pull_request_is_checked_and_compared(pull_request: Path) -> None:
    done, outputs, summary = run_action(pull_request, models="models/*.py\n", against="main")
    assert done.returncode == 1, done.stderr
    # Marks on lines.
    assert done.stdout.startswith("::error file=models/encoder.py,line=8,col=1,title=GT103 detached::")
    assert outputs == {"findings": "1", "changed": "2", "sarif": "gradtool.sarif", "comment": "gradtool.md"}
    # SARIF for code scanning.
    log = Sarif.model_validate_json((pull_request / "gradtool.sarif").read_text(encoding="utf-8"))
    (result,) = log.runs[0].results or []
    place = json.loads(result.model_dump_json(by_alias=True))["locations"][0]["physicalLocation"]
    assert (result.rule_id, place["artifactLocation"]["uri"], place["region"]["startLine"]) == (
        "GT103",
        "models/encoder.py",
        8,
    )
    # The comment: the finding, the change, the new model, and what is the same.
    comment = (pull_request / "gradtool.md").read_text(encoding="utf-8")
    assert comment == summary
    assert comment.startswith("<!-- gradtool -->\n### Gradients\n\n**Found 1 error in 3 models.**\n")
    assert "| error | GT103 detached | models/encoder.py:8 |" in comment
    assert "<code>models/encoder.py</code> since main" in comment
    assert "encoder.weight gets no gradient any more" in comment
    assert "<code>models/young.py</code> since main</summary>\n\nnot in main\n" in comment
    assert "The backward graph of 1 of 3 models is the same as in main." in comment
    # Nothing else lies about, and the checkout is as it was.
    status = subprocess.run(["git", "status", "--short"], cwd=pull_request, capture_output=True, text=True, check=True)
    assert sorted(status.stdout.split()) == ["??", "??", "gradtool.md", "gradtool.sarif"]


def test_the_action_can_report_only_and_says_what_it_cannot_do(pull_request: Path) -> None:
    done, outputs, _ = run_action(pull_request, models="models/encoder.py", fail_on="nothing", sarif="", comment="")
    assert (done.returncode, outputs["changed"]) == (0, "0")
    assert not (pull_request / "gradtool.sarif").exists()
    done, outputs, _ = run_action(pull_request, models="modles/*.py")
    assert (done.returncode, outputs, "no file matches modles/*.py" in done.stderr) == (1, {}, True)
    done, outputs, _ = run_action(pull_request, models="models/steady.py", select="GT999")
    assert (done.returncode, outputs, "unknown rule" in done.stderr) == (2, {}, True)


def test_the_action_hands_over_every_input_and_output() -> None:
    text = (ACTION / "action.yml").read_text(encoding="utf-8")
    script = (ACTION / "run.py").read_text(encoding="utf-8")
    handed = dict(re.findall(r"INPUT_(\w+): \$\{\{ inputs\.([\w-]+) \}\}", text))
    assert set(handed.values()) == {*inputs()} - {"version"}
    assert all(variable == name.upper().replace("-", "_") for variable, name in handed.items())
    assert all(f'"{variable}"' in script for variable in handed)
    outputs = re.findall(r"steps\.run\.outputs\.(\w+)", text)
    assert all(f'"{name}": ' in script for name in outputs)
    page = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
    block = page[page.index("uses: OWNER/gradtool") :]
    used = re.findall(r"^ {10}([\w-]+):", block[: block.index("- if")], re.MULTILINE)
    assert used
    assert {*used} <= {*inputs()}
    assert all(f"`{name}`" in page for name in (*inputs(), *outputs))


@pytest.fixture
def models(folder: Path) -> Path:
    (folder / "models").mkdir()
    (folder / "models" / "encoder.py").write_text(DETACHED.wrong, encoding="utf-8")
    (folder / "models" / "decoder.py").write_text(DETACHED.right, encoding="utf-8")
    return folder


def test_hooks_of_pre_commit(gradtool: Run, models: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hooks = re.findall(r"^- id: (\S+)\n(?:  .+\n)*?  entry: (.+)$", text, re.MULTILINE)
    assert [name for name, _ in hooks] == ["gradtool", "gradtool-files"]
    for _, entry in hooks:
        command, *words = shlex.split(entry)
        assert command == "gradtool"
        done = gradtool(*words, "models/encoder.py", "models/decoder.py")
        assert done.code == 1
        assert done.out.startswith("models/encoder.py:8:1: GT103 ")


def test_the_job_for_gitlab(models: Path) -> None:
    text = (ROOT / ".gitlab" / "gradtool.yml").read_text(encoding="utf-8")
    (script,) = re.findall(r"^  script:\n    - (.+)$", text, re.MULTILINE)
    words = {"GRADIENTS_MODELS": "models/encoder.py models/decoder.py", "GRADIENTS_OPTIONS": "--select GT1"}
    assert all(f"    {name}: " in text for name in words)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], env=environment(**words), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    for kind, file in re.findall(r"^      (codequality|junit): (\S+)$", text, re.MULTILINE):
        assert (models / file).exists(), kind
    (issue,) = json.loads((models / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert issue["location"] == {"path": "models/encoder.py", "lines": {"begin": 8}}


def test_editors_read_the_concise_form(gradtool: Run, models: Path) -> None:
    lines = gradtool("check", "models/encoder.py", "--format", "concise").out.splitlines()
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.+?)```", page, re.DOTALL)
    pattern = json.loads(block)["tasks"][0]["problemMatcher"]["pattern"]
    read = [m for m in (re.match(pattern["regexp"], line) for line in lines) if m is not None]
    assert [{part: m[pattern[part]] for part in ("file", "line", "column", "code")} for m in read] == [
        {"file": "models/encoder.py", "line": "8", "column": "1", "code": "GT103"}
    ]
    assert read[0][pattern["message"]].startswith("encoder.weight has grad = None: detached")
    # Vim's format, as a regular expression: %f %l %c %n %m stand for what follows, a backslash for a blank.
    (form,) = re.findall(r"set errorformat=(\S+),%-G%\.%#$", page.replace("\\ ", "\0"), re.MULTILINE)
    parts = {"%f": r"(?P<f>.+?)", "%l": r"(?P<l>\d+)", "%c": r"(?P<c>\d+)", "%n": r"(?P<n>\d+)", "%m": r"(?P<m>.+)"}
    regexp = "".join(parts.get(p, re.escape(p)) for p in re.split(r"(%[flcnm])", form.replace("\0", " ")))
    told = [m for m in (re.fullmatch(regexp, line) for line in lines) if m is not None]
    assert [(m["f"], m["l"], m["c"], m["n"]) for m in told] == [("models/encoder.py", "8", "1", "103")]
