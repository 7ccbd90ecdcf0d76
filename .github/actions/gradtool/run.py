"""What the action does: check models, compare them with another revision, and hand both to the runner.

Reads the inputs from ``INPUT_…``, prints annotations, appends to the files that ``GITHUB_OUTPUT`` and
``GITHUB_STEP_SUMMARY`` name, and exits as ``gradtool check`` does. Nothing but ``gradtool`` and ``git`` is needed.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = "<!-- gradtool -->"
"""The first line of the Markdown, by which a workflow finds its comment again."""

LONGEST = 60_000
"""Characters of a comment; GitHub takes 65,536."""


def given(name: str) -> str:
    """An input without the blanks around it."""
    return os.environ.get(f"INPUT_{name}", "").strip()


def models() -> list[str]:
    """The models as files, of patterns those that match."""
    found: dict[str, None] = {}
    for line in given("MODELS").splitlines():
        pattern = line.strip()
        if not pattern:
            continue
        matched = sorted(glob.glob(pattern, recursive=True))
        if not matched and glob.has_magic(pattern):
            sys.exit(f"gradtool: no file matches {pattern}")
        found |= dict.fromkeys(matched or [pattern])
    return list(found)


def gradtool(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command; its notes and errors go to the log."""
    return subprocess.run(["gradtool", *words], stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)


def check(folder: Path) -> tuple[int, dict[str, Any], str]:
    """The exit code, the report as JSON, and as Markdown; annotations are printed, files of the inputs written."""
    report, markdown = folder / "check.json", folder / "check.md"
    words = ["--format", "github", "--out", f"json={report}", "--out", f"markdown={markdown}"]
    for form in ("SARIF", "JUNIT"):
        words += ["--out", f"{form.lower()}={given(form)}"] if given(form) else []
    for name in ("SELECT", "IGNORE", "GOLDEN"):
        words += [f"--{name.lower()}", given(name)] if given(name) else []
    level = given("FAIL_ON") or "error"
    words += ["--exit-zero"] if level == "nothing" else ["--fail-on", level]
    done = gradtool("check", *models(), *words)
    print(done.stdout, end="", flush=True)
    if done.returncode > 1:
        sys.exit(done.returncode)  # what is wrong stands in the log
    return done.returncode, json.loads(report.read_text(encoding="utf-8")), markdown.read_text(encoding="utf-8")


def targets() -> list[str]:
    """The models that were checked, as a command line calls them: findings may call them by names of their own."""
    return gradtool("check", *models(), "--show-files").stdout.splitlines()


def differences(names: list[str], against: str) -> Iterator[tuple[str, int, str]]:
    """Of each model how many changes there are since a revision, and these as Markdown."""
    for name in names:
        path = name.partition(":")[0]
        if subprocess.run(
            ["git", "cat-file", "-e", f"{against}:./{path}"], capture_output=True, check=False
        ).returncode:
            yield name, 1, f"not in {against}\n"
            continue
        done = gradtool("diff", f"{name}@{against}", name, "--format", "markdown", "--exit-code", "-q")
        told = (
            done.stdout
            if done.returncode < 2
            else f"cannot be compared: `gradtool diff` ended with {done.returncode}\n"
        )
        yield name, int(done.returncode != 0), told


def comment(summary: str, told: list[tuple[str, int, str]], against: str) -> str:
    """Findings, then what differs; models that are the same are counted."""
    parts = [f"{MARK}\n### Gradients\n\n{summary}"]
    same = sum(not changed for _, changed, _ in told)
    for name, changed, text in told:
        if changed:
            parts.append(
                f"<details open><summary><code>{name}</code> since {against}</summary>\n\n{text}\n</details>\n"
            )
    if told and same:
        parts.append(f"The backward graph of {same} of {len(told)} models is the same as in {against}.\n")
    whole = "\n".join(parts)
    if len(whole) <= LONGEST:
        return whole
    return (
        whole[:LONGEST].rpartition("\n")[0] + "\n\n… and more than a comment holds: the summary of the step has all.\n"
    )


def append(variable: str, text: str) -> None:
    """Append to a file that the runner reads; nothing outside a runner."""
    file = os.environ.get(variable)
    if file:
        with open(file, "a", encoding="utf-8") as opened:
            opened.write(text)


def main() -> int:
    """Do all of it."""
    with tempfile.TemporaryDirectory(prefix="gradtool-action-") as folder:
        code, report, markdown = check(Path(folder))
    against = given("AGAINST")
    told = list(differences(targets(), against)) if against else []
    text = comment(markdown, told, against)
    if given("COMMENT"):
        Path(given("COMMENT")).write_text(text, encoding="utf-8")
    append("GITHUB_STEP_SUMMARY", text)
    outputs = {
        "findings": str(report["findings"]),
        "changed": str(sum(changed for _, changed, _ in told)),
        "sarif": given("SARIF"),
        "comment": given("COMMENT"),
    }
    append("GITHUB_OUTPUT", "".join(f"{name}={value}\n" for name, value in outputs.items()))
    return code


if __name__ == "__main__":
    sys.exit(main())
