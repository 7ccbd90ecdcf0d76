"""What is expected of a script of the corpus, said in its first comment, and what ``why`` answers.

``# expect: DETACHED net.right.weight at line 15`` is a finding with the first tensor that it is about and its line;
several are parted by semicolons. ``# expect: nothing`` stands in a right script. ``# rules: GT708 at line 17`` is what
the gate finds of dropped results (GT113), of gradient rules (GT301), of the flow of information (GT6) and of training
(GT7), nothing where no script says so.
"""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.loading.loader import run_model
from gradtool.engine.questions.why import Why
from gradtool.engine.recorders.recorded import archive
from gradtool.engine.request.request import Request

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
RUNS = HERE / "runs"


def names() -> list[str]:
    """The scripts of the corpus."""
    return sorted(p.stem for p in CORPUS.glob("*.py"))


def expected(script: Path) -> list[str]:
    """The findings that a script says are in it: verdict, tensor and line."""
    (line,) = re.findall(r"^# expect: (.+)$", script.read_text("utf-8"), re.MULTILINE)
    return [] if line == "nothing" else sorted(line.split(" ; "))


def judged() -> list[str]:
    """The scripts that the gate is asked about: those that say what it finds, and the right ones."""
    return [n for n in names() if n.startswith(("g_", "r_"))]


def rules_expected(script: Path) -> list[str]:
    """What a script says that the gate finds."""
    said = re.findall(r"^# rules: (.+)$", script.read_text("utf-8"), re.MULTILINE)
    return sorted(said[0].split(" ; ")) if said else []


def rules_found(model: Path) -> list[str]:
    """What the gate finds, in the same words."""
    found = findings(Request(str(model)), model.name, Selection(select=("GT113", "GT301", "GT6", "GT7")))
    return sorted(f"{f.code} at line {f.spot.line if f.spot else 0}" for f in found)


def answered(model: Path) -> list[str]:
    """The findings of ``gradtool why``, in the same words."""
    answers = Why().ask(Request(str(model)))
    return sorted(
        f"{a.verdict.name} {a.name} at line {a.location[0][1] if a.location else 0}" for a in answers if a.finding
    )


def record(script: Path, run: Path) -> None:
    """Run a script under the recorder and write what it did into *run*; no text in it names the script's folder."""
    request = Request.create(script.name, journal=True, unfinished=True, full_stacks=True)
    with chdir(script.parent), archive.record_into(str(run), str(script.parent)), run_model(request):
        pass
