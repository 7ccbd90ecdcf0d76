"""View of a sweep: how its points came out, what only all of them together say, and those to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gradtool.engine.core.wording import NOTHING, command_line, count, number, size
from gradtool.engine.data.row_subset import Portion
from gradtool.engine.sweeps.noise import NoiseScale, noise_scales
from gradtool.engine.sweeps.point import Point
from gradtool.engine.sweeps.point_rows import CRASHED, ERROR, MEMORY, REFUSED, TIMEOUT
from gradtool.engine.sweeps.spread import NormSpread, Usual, idle, spreads, usual
from gradtool.engine.sweeps.summaries import FINDING, KINDS, OK, UNCHECKED
from gradtool.engine.sweeps.sweep import Swept
from gradtool.engine.sweeps.threshold_search import Turning, turnings

from .view import Table, View

MOST: Final = 20
"""Points, outliers or lines that text lists; TSV and JSON have all points."""

STATUSES: Final = {
    OK: "good",
    FINDING: "bad",
    UNCHECKED: "warn",
    ERROR: "bad",
    REFUSED: "warn",
    TIMEOUT: "warn",
    MEMORY: "warn",
    CRASHED: "bad",
}
"""Status -> what it means, in the order in which they are told."""

Row = Mapping[str, Any]


def view(answer: Swept) -> View:
    """A sweep, as far as it came."""
    told = [*_idle(answer), *_settings(answer), *_outliers(answer), *_noise(answer), *_subset(answer)]
    to_look_at = [row for row in answer.rows if row["status"] != OK]
    shown = to_look_at[:MOST]
    blocks: list[str | Table] = ["\n".join(_head(answer))]
    if len(answer.axes.models) > 1:
        blocks.append(_models(answer))
    lines = spreads(answer.rows) if len(answer.axes.models) == 1 else []
    if lines and len(answer.rows) > 1:
        blocks.append(_spread(lines[:MOST]))
        if len(lines) > MOST:
            blocks.append(f"and {len(lines) - MOST} more, in JSON")
    if shown:
        blocks.append(_points(answer, shown))
    if len(to_look_at) > len(shown):
        blocks.append(f"and {len(to_look_at) - len(shown)} more points that are not ok, in --format tsv and json")
    if told:
        blocks.append("\n".join(told))
    return View(
        "sweep", _data(answer), blocks, _next(answer), _points(answer, answer.rows), STATUSES, "rows", in_blocks=True
    )


def _head(answer: Swept) -> Iterator[str]:
    axes, spec = answer.axes, answer.spec
    name = axes.models[0] if len(axes.models) == 1 else count(len(axes.models), "model")
    yield f"sweep   {spec.question} · {name} · {count(answer.points, 'point')}"
    if axes.data is not None:
        batches = ", ".join(map(str, axes.batches))
        how = "one row at a time" if axes.batches == (1,) else f"in batches of {batches}"
        yield f"over    {axes.data}, {how}"
    if axes.feeds:
        yield f"over    {count(len(axes.feeds), 'feed')}"
    if len(axes.seeds) > 1:
        yield f"seeds   {len(axes.seeds)}: {axes.seeds[0]} to {axes.seeds[-1]}"
    for setting in axes.settings:
        ends = f"{setting.values[0]} to {setting.values[-1]}"
        yield f"set     {setting.name}: {count(len(setting.values), 'value')}, {ends}"
    counts = count_statuses(answer.rows)
    told = " · ".join(f"{n} {status}" for status, n in counts.items())
    left = answer.points - len(answer.rows)
    yield f"came    {told or 'nothing'}" + (f" · {left} not reached" if left else "")


def count_statuses(rows: Sequence[Row]) -> dict[str, int]:
    """Status -> how many rows have it, those that none has left out."""
    counts = Counter(row["status"] for row in rows)
    return {status: counts[status] for status in STATUSES if counts[status]}


# -- points -----------------------------------------------------------------------------------------------------------


def label(row: Row, seeds: bool = True) -> str:
    """Return what distinguishes a point from the others of its model: its data, settings and, of several, its seed."""
    portion = _portion(row)
    parts = [f"{name}={value}" for name, value in row["set"].items()]
    parts += [portion.display] if portion is not None else []
    return " · ".join([*parts, *([f"seed {row['seed']}"] if seeds or not parts else [])])


def point_of(answer: Swept, row: Row) -> str:
    """Return what distinguishes a point from all others of a sweep."""
    if len(answer.axes.models) == 1:
        return label(row, len(answer.axes.seeds) > 1)
    axes = answer.axes
    several = len(axes.seeds) > 1 or axes.settings or axes.feeds or axes.data
    return f"{row['model']} · {label(row, len(axes.seeds) > 1)}" if several else str(row["model"])


def _portion(row: Row) -> Portion | None:
    if row["feed"] is None:
        return None
    return Portion(row["feed"], None if row["rows"] is None else (row["rows"][0], row["rows"][1]))


def _points(answer: Swept, rows: Sequence[Row]) -> Table:
    table = Table(["point", "status", "what"], order=("what…", "point…"), judged="status", styles=STATUSES)
    for row in rows:
        table.rows.append([point_of(answer, row), row["status"], describe_row(row)])
    return table


def describe_row(row: Row) -> str:
    """Describe the result of a point in a few words."""
    answer = row["answer"]
    if answer is None:
        return str(row["error"])
    told = _SAID[row["question"]](answer)
    return f"{told}; then {row['error']}" if row["error"] else told


def _describe_nan(answer: Row) -> str:
    births = answer["births"]
    if not births:
        return f"not looked at: {answer['unchecked'][0]}" if answer["unchecked"] else NOTHING
    first = births[0]
    where = f" ({first['source']})" if first["source"] else ""
    return f"{first['kind']} {first['bad']}/{first['elements']} in {first['operator']}{where}: {first['cause']}"


def _describe_stats(answer: Row) -> str:
    bad = [line for line in answer["lines"] if line["verdict"] != OK]
    whole = f"‖g‖ {number(answer['norm'])}" if answer["norm"] is not None else f"{answer['nonfinite']} not finite"
    if not bad:
        return whole
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    return f"{whole} · {bad[0]['name']}: {bad[0]['verdict']}{more}"


def _describe_why(answer: Row) -> str:
    return _first([f"{v['name']}: {v['label']}{_place(v)}" for v in answer["verdicts"]])


def _describe_gradcheck(answer: Row) -> str:
    told = _first([f"{c['name']}: {c['status']}{', ' + c['cause'] if c['cause'] else ''}" for c in answer["not_ok"]])
    return told if answer["not_ok"] else f"{answer['checked']} compared"


def _describe_check(answer: Row) -> str:
    return _first([f"{f['code']} {f['message']}{_place(f)}" for f in answer["findings"]])


def _describe_backward(answer: Row) -> str:
    told = f"{answer['with_gradient']} of {count(answer['parameters'], 'parameter')} with a gradient"
    if answer["nonfinite"]:
        told += f", {answer['nonfinite']} elements not finite"
    return told


def _describe_saved(answer: Row) -> str:
    return f"{size(answer['bytes'])} in {count(answer['buffers'], 'buffer')}, peak {size(answer['peak'])}"


def _place(found: Row) -> str:
    return f" ({found['source']})" if found["source"] else ""


def _first(told: Sequence[str]) -> str:
    if not told:
        return NOTHING
    return told[0] + (f" and {len(told) - 1} more" if len(told) > 1 else "")


_SAID: Final[Mapping[str, Callable[[Row], str]]] = {
    "nan": _describe_nan,
    "stats": _describe_stats,
    "why": _describe_why,
    "gradcheck": _describe_gradcheck,
    "check": _describe_check,
    "backward": _describe_backward,
    "saved": _describe_saved,
}
assert _SAID.keys() == KINDS.keys()


# -- what all points together say -------------------------------------------------------------------------------------


def _models(answer: Swept) -> Table:
    table = Table(["model", "points", "ok", "finding", "others", "first"], order=("first…", "model…"))
    for model in answer.axes.models:
        rows = [row for row in answer.rows if row["model"] == model]
        ok, found = (sum(row["status"] == status for row in rows) for status in (OK, FINDING))
        first = next((row for row in rows if row["status"] != OK), None)
        numbers = [len(rows), ok, found, len(rows) - ok - found]
        table.rows.append([model, *map(str, numbers), NOTHING if first is None else describe_row(first)])
    return table


def _spread(lines: Sequence[NormSpread]) -> Table:
    headings = ["gradient", "least ‖g‖", "quarter", "median", "three quarters", "most", "zero", "not finite", "none"]
    table = Table(headings, order=("median", "most", "least ‖g‖", "not finite", "gradient…"))
    for line in lines:
        sizes = [number(line.quantile(share)) for share in (0, 0.25, 0.5, 0.75, 1)]
        table.rows.append([line.name, *sizes, str(line.zeros), str(line.nonfinite), str(line.missing)])
    return table


def _idle(answer: Swept) -> Iterator[str]:
    for name in idle(answer.rows):
        why = ": the model draws nothing at random, or seeds itself" if name == "seed" else ": does the model use it?"
        yield f"{'the ' * (name in ('seed', 'data'))}{name} changes no gradient{why}"


def _settings(answer: Swept) -> Iterator[str]:
    for turning in turnings(answer.rows)[:MOST]:
        others = [f"{name}={value}" for name, value in turning.others.items() if name != "model"]
        if len(answer.axes.models) > 1:
            others.insert(0, turning.others["model"])
        where = f" at {', '.join(others)}" if others else ""
        yield f"{turning.setting}{where}: {threshold_note(turning)}"


def threshold_note(turning: Turning) -> str:
    """Return a sentence about where along a setting gradients explode."""
    values, at, last = turning.values, turning.start, len(turning.values) - 1
    if not turning.where:
        return f"gradients explode at none of {len(values)} values, {values[0]} to {values[-1]}"
    if len(turning.where) == len(values):
        return f"gradients explode at each of {len(values)} values, {values[0]} to {values[-1]}"
    if at is None:
        return f"gradients explode at {', '.join(turning.where[:MOST])}, and not at every value between"
    how = f" ({turning.bad[at]} of {count(turning.points[at], 'point')})" if turning.points[at] > 1 else ""
    if turning.falls:
        return f"gradients explode up to {values[at]}{how}; not at {values[min(at + 1, last)]}"
    return f"gradients explode from {values[at]}{how}; not at {values[max(at - 1, 0)]}"


def _outliers(answer: Swept) -> Iterator[str]:
    for group in usual(answer.rows):
        if group.outliers:
            apart = f"{len(group.outliers)} of {group.points} points stand apart"
            yield f"{apart}; the median ‖g‖ is {number(group.median)}"
            yield from (f"   {text}" for text in _apart(answer, group))


def _apart(answer: Swept, group: Usual) -> Iterator[str]:
    for outlier in group.outliers[:MOST]:
        times = "not finite" if outlier.times is None else f"‖g‖ {number(outlier.norm)}, ×{number(outlier.times)}"
        yield f"{point_of(answer, answer.rows[outlier.number])}   {times}"
    if len(group.outliers) > MOST:
        yield f"and {len(group.outliers) - MOST} more, in JSON"


def _noise(answer: Swept) -> Iterator[str]:
    scales = noise_scales(answer.rows)
    if not scales and answer.spec.question == "stats" and len(answer.axes.batches) > 1:
        yield "gradient noise scale unknown: it takes two batches of each size, and all of them finite"
    for noise in scales[:MOST]:
        settings = "".join(f", {name}={value}" for name, value in noise.settings.items())
        of = f"batches of {noise.small} and {noise.large}{settings}, seed {noise.seed}"
        scale = "unknown" if noise.scale is None else f"{number(noise.scale)} samples"
        yield f"gradient noise scale {scale} ({of}){': ' + noise.doubt if noise.doubt else ''}"


def _subset(answer: Swept) -> Iterator[str]:
    found = answer.subset
    if found is None or found.point.portion is None or not found.runs:
        return
    rows = ", ".join(map(str, found.rows[:MOST])) + ("…" if len(found.rows) > MOST else "")
    alone = "alone gives it" if len(found.rows) == 1 else "together give it, and without any of them it does not come"
    yield f"smallest {found.point.portion.path} row{'s' * (len(found.rows) > 1)} {rows} {alone}"
    yield f"   of the first batch with it, {found.point.portion.display}; {count(found.runs, 'more run')}"
    if found.repeated:
        yield "   the model takes batches of one size: the rows were repeated to fill one"


# -- for programs -----------------------------------------------------------------------------------------------------


def _data(answer: Swept) -> dict[str, Any]:
    axes = answer.axes
    return {
        "question": answer.spec.question,
        "models": list(axes.models),
        "seeds": list(axes.seeds),
        "set": {setting.name: list(setting.values) for setting in axes.settings},
        "feeds": list(axes.feeds),
        "data": axes.data,
        "batches": list(axes.batches),
        "points": answer.points,
        "findings": answer.findings,
        "complete": answer.complete,
        "counts": count_statuses(answer.rows),
        "rows": [dict(row) for row in answer.rows],
        "subset": _data_of_subset(answer),
        "spread": [_data_of_spread(line) for line in spreads(answer.rows)],
        "outliers": [
            {**answer.rows[o.number], "answer": None, "norm": o.norm, "times": o.times}
            for group in usual(answer.rows)
            for o in group.outliers
        ],
        "idle": idle(answer.rows),
        "turning": [_data_of_turning(turning) for turning in turnings(answer.rows)],
        "noise_scale": [_data_of_noise(noise) for noise in noise_scales(answer.rows)],
    }


def _data_of_subset(answer: Swept) -> dict[str, Any] | None:
    found = answer.subset
    if found is None:
        return None
    return {**found.point.data(), "subset": list(found.rows), "repeated": found.repeated, "runs": found.runs}


def _data_of_spread(line: NormSpread) -> dict[str, Any]:
    names = ("least", "quarter", "median", "three_quarters", "most")
    sizes = {name: line.quantile(i / 4) for i, name in enumerate(names)}
    return {"name": line.name, **sizes, "zeros": line.zeros, "nonfinite": line.nonfinite, "missing": line.missing}


def _data_of_turning(turning: Turning) -> dict[str, Any]:
    told = {"setting": turning.setting, "others": dict(turning.others), "values": list(turning.values)}
    return {**told, "exploded": list(turning.bad), "points": list(turning.points)}


def _data_of_noise(noise: NoiseScale) -> dict[str, Any]:
    return {
        "model": noise.model,
        "set": dict(noise.settings),
        "seed": noise.seed,
        "small": noise.small,
        "large": noise.large,
        "gradient": noise.gradient,
        "noise": noise.noise,
        "scale": noise.scale,
    }


def command_of(answer: Swept, row: Row) -> str | None:
    """A command that asks the same at one point; None where words cannot say it."""
    return _command_at(answer, Point.read({**row, "set": row["set"].items(), "chosen": None}))


def _command_at(answer: Swept, point: Point) -> str | None:
    words = answer.spec.words(point)
    return None if words is None else command_line(*words)


def _next(answer: Swept) -> list[str]:
    """A command that asks about the first point to look at, where words can say it, or about each row of the data.

    Of a batch whose smallest part is known, about that.
    """
    row = next((row for row in answer.rows if row["status"] != OK), None)
    subset = answer.subset
    alone = None if row is None else command_of(answer, row)
    if subset is not None and not subset.repeated:
        alone = _command_at(answer, replace(subset.point, chosen=subset.rows)) or alone
    if alone is not None:
        return [alone]
    words = ["gradtool", "sweep", "stats", *answer.axes.models[:1]]
    if answer.axes.data is not None and not (answer.spec.question == "stats" and answer.axes.batches == (1,)):
        return [command_line(*words, "--rows", answer.axes.data, "-o", "rows.html")]
    return [command_line(*words, "--help")]
