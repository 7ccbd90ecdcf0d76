"""View of a step on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradtool.engine.answers.replicas.comparing import ParameterGradient, ReplicaFinding
from gradtool.engine.core.source import short
from gradtool.engine.core.wording import NOTHING, command_line, count, finite, number
from gradtool.engine.questions.replicas import OnReplicas

from .view import Table, View

SAID: Final = {
    "right": "right once averaged",
    "same": "the same on all",
    "scaled": "scaled",
    "apart": "differs",
    "not summed": "NOT SUMMED",
    "unknown": "unknown",
}
_STYLES: Final = {"NOT": "bad", "differs": "warn", "scaled": "bad", "right": "good", "the same": "good"}
_SHOWN: Final = 5
"""Operators that are named of those that could not be asked."""


def view(answer: OnReplicas) -> View:
    """The operators that differ by themselves, then the gradients."""
    averaged = "as the script exchanges them" if answer.exchanged else "averaged over the replicas"
    each = f"{answer.rows // answer.count} of {answer.rows} rows each"
    blocks: list[str | Table] = [f"{answer.title} on {answer.count} replicas · {each} · gradients {averaged}"]
    if answer.operators:
        table = Table(["operator", "more", "part", "what", "relative", "layer", "source"])
        table.order = ("layer", "part", "relative", "source…", "what…", "more", "operator")
        for f, more in _alike(answer.operators):
            far = NOTHING if f.apart is None else number(f.apart)
            others = f"+{more}" if more else NOTHING
            table.rows.append([f.op, others, f.part, _what(f), far, f.layer or NOTHING, short(f.loc) or NOTHING])
        blocks.append(table)
    blocks.append(_gradients(answer))
    blocks.append(_summary(answer))
    blocks += _advice(answer)
    if answer.unasked:
        names = ", ".join(answer.unasked[:_SHOWN]) + (", …" if len(answer.unasked) > _SHOWN else "")
        blocks.append(f"not asked: {count(len(answer.unasked), 'operator')} that cannot run on fewer rows ({names})")
    data: dict[str, Any] = {
        "findings": answer.findings,
        "name": answer.title,
        "replicas": answer.count,
        "rows": answer.rows,
        "operators": [_operator(f) for f in answer.operators],
        "gradients": [_gradient(g) for g in answer.gradients],
        "compared": answer.compared,
        "not_asked": list(answer.unasked),
        "exchanged_by_script": answer.exchanged,
    }
    further = [command_line("gradtool", "graph", "--where", f.op, answer.title) for f in answer.operators[:1]]
    further = further or [command_line("gradtool", "stats", answer.title)]
    return View("replicas", data, blocks, further, None, records="operators", in_blocks=True)


def _alike(findings: Sequence[ReplicaFinding]) -> list[tuple[ReplicaFinding, int]]:
    """The first operator of each type that differs in the same way, and how many more there are."""
    alike: dict[tuple[str, str], list[ReplicaFinding]] = {}
    for f in findings:
        alike.setdefault((f.op.rpartition(".")[0], f.kind), []).append(f)
    return [(several[0], len(several) - 1) for several in alike.values()]


def _advice(answer: OnReplicas) -> list[str]:
    """Return what to do about it."""
    lines, words = [], answer.vocabulary
    if any(f.op.startswith("batch_norm") and f.kind == "differs" for f in answer.operators):
        lines.append(f"{words.sync_batch_norm} takes the statistics of all rows")
    if any(f.kind == "same numbers" for f in answer.operators):
        lines.append(f"{words.seed_each} gives every replica numbers of its own")
    if any(g.state == "not summed" for g in answer.wrong):
        lines.append(f"{words.all_reduce}, or {words.data_parallel}, sums it")
    return lines


def _what(finding: ReplicaFinding) -> str:
    if finding.kind == "same numbers":
        return "every replica draws the same numbers"
    return f"{finding.slot} over a part of the rows is another"


def _gradients(answer: OnReplicas) -> Table:
    table = Table(["gradient of", "norm", "least", "most", "on the replicas"], styles=_STYLES, judged="on the replicas")
    table.order = ("least", "most", "norm", "gradient of…", "on the replicas…")
    for g in answer.gradients:
        least, most = (number(f(g.norms)) if g.norms else NOTHING for f in (min, max))
        said = f"scaled: {number(g.factor)} times" if g.state == "scaled" else SAID[g.state]
        table.rows.append([g.name, number(g.norm), least, most, said])
    return table


def _summary(answer: OnReplicas) -> str:
    unknown = [g.name for g in answer.gradients if g.state in ("unknown", "apart")]
    if not answer.findings and (answer.unasked or unknown):
        behind = f"; {count(len(unknown), 'gradient')} behind them may be another" if unknown else ""
        asked = count(answer.compared, "operator")
        return f"nothing found in {asked}, but {len(answer.unasked)} could not be asked{behind}"
    if not answer.findings:
        return f"no differences: {count(answer.compared, 'operator')} compute on a part of the rows what they do on all"
    told = []
    if answer.operators:
        told.append(f"first: {answer.operators[0].op}")
    missing = [g.name for g in answer.wrong if g.state == "not summed"]
    if missing:
        told.append(f"nothing sums the gradient of {', '.join(missing)} over the replicas")
    scaled = [g for g in answer.wrong if g.state == "scaled"]
    if scaled:
        told.append(f"averaged, {count(len(scaled), 'gradient')} would be {number(scaled[0].factor)} times as large")
    return "; ".join(told)


def _operator(f: ReplicaFinding) -> dict[str, Any]:
    return {
        "operator": f.op,
        "part": f.part,
        "slot": f.slot,
        "kind": f.kind,
        "relative": None if f.apart is None else finite(f.apart),
        "layer": f.layer or None,
        "source": short(f.loc) or None,
    }


def _gradient(g: ParameterGradient) -> dict[str, Any]:
    return {
        "name": g.name,
        "state": g.state,
        "factor": g.factor,
        "norm": finite(g.norm),
        "norms": [finite(n) for n in g.norms],
    }
