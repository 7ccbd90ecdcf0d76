"""Do the tests notice?

Single changes of the engine's sources (an operator, a comparison, a condition, a number, a loop), drawn at random, and
for each of them the tests that run the changed line, until one fails. Cosmic Ray makes the changes and keeps what
became of them; the tests run in forked processes, so that a change costs seconds. Run from the top of the repository
with the extra ``mutation`` installed::

    python -m tests.mutation [--count 100] [--seed 1] [--only autodiff] [--session .mutation/session.sqlite]

A session that was stopped goes on where it stood; with ``--again`` what passed is tried again, after tests were added.
``cr-report SESSION`` and ``cr-html SESSION`` tell more of it.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult

from . import places, reach, trial, warm

NEAR = 30
"""So many tests of the folder that mirrors the source's come before others."""

TRIES = (8, 60)
"""So many tests are run at first, the most specific ones, and so many when these pass; then the others."""
SECONDS = 8.0
"""What all tests of one change may take, as recorded."""

DECLARED = [
    reach.Reach(f, 3.0) for f in ("tests/paddle/test_public_signatures.py", "tests/ops/test_attribute_defaults.py")
]
"""Tests that read what functions and operators declare, and run none of them."""


def drawn(folder: str, count: int, seed: int) -> list[WorkItem]:
    """*count* places of a folder at random, and one of the changes at each."""
    at: dict[tuple[str, tuple[int, int]], list[WorkItem]] = {}
    for item in places.mutants(folder):
        spec = item.mutations[0]
        at.setdefault((str(spec.module_path), spec.start_pos), []).append(item)
    rng = random.Random(f"{folder} {seed}")
    return [rng.choice(at[place]) for place in rng.sample(sorted(at), min(count, len(at)))]


def tried(spec: MutationSpec, records: list[reach.Record], processes: warm.Warm, seconds: float) -> WorkResult:
    """What the tests say to one change."""
    path, text = str(spec.module_path), places.mutated(spec)
    source = places.source(path)
    if text is None:
        return WorkResult(WorkerOutcome.NO_TEST)  # the same program, or none
    diff = "\n".join(unified_diff(source.text.split("\n"), text.split("\n"), path, path, n=0, lineterm=""))
    line = spec.start_pos[0]
    # After those that run the line, those that run the function around it: records may be older than the line.
    wider = (reach.reaching(records, lines) for lines in (source.readers(line), *source.around(line)))
    tests = list(dict.fromkeys(itertools.chain.from_iterable(wider)))
    near = [t for t in tests if t.test.startswith(f"tests/{path.split('/')[1]}/")][:NEAR]
    tests = _affordable(list(dict.fromkeys([*near, *tests])), seconds)
    if line not in source.within:
        tests = [*DECLARED, *tests]
    for first, last in itertools.pairwise((0, *TRIES, len(tests))):
        some = tests[first:last]
        names = [t.test for t in some]
        outcome = names and processes.notice(path, text, names, 20 + 5 * sum(t.seconds for t in some))
        if outcome:
            return WorkResult(WorkerOutcome.NORMAL, outcome, TestOutcome.KILLED, diff)
    return WorkResult(WorkerOutcome.NORMAL, f"{len(tests)} tests", TestOutcome.SURVIVED, diff)


def _affordable(tests: list[reach.Reach], seconds: float) -> list[reach.Reach]:
    quick = [t for t in tests if t.seconds <= seconds / 4]
    ends = itertools.accumulate(t.seconds for t in quick)
    return [t for t, end in zip(quick, ends, strict=True) if end <= seconds]


def table(db: WorkDB) -> None:
    """How many changes of each folder were noticed, and the others."""
    counts: dict[str, Counter[TestOutcome | None]] = {}
    survivors = []
    for item, result in db.completed_work_items:
        if result.worker_outcome == WorkerOutcome.NO_TEST:
            continue
        spec = item.mutations[0]
        folder = next(f for f in places.FOLDERS if str(spec.module_path).startswith(f"engine/{f}/"))
        counts.setdefault(folder, Counter())[result.test_outcome] += 1
        if result.test_outcome == TestOutcome.SURVIVED:
            survivors.append((str(spec.module_path), spec.start_pos, result))
    for path, (line, column), result in sorted(survivors, key=lambda s: s[:2]):
        changed = [text for text in result.diff.splitlines()[2:] if not text.startswith("@@")]
        print(f"\n{path}:{line}:{column} ({result.output})", *changed, sep="\n")
    print(f"\n{'folder':<12} {'changes':>8} {'noticed':>8} {'not':>5}")
    for folder, of in sorted(counts.items()):
        survived = of[TestOutcome.SURVIVED]
        print(f"{folder:<12} {of.total():>8} {of.total() - survived:>8} {survived:>5}")


def main() -> None:
    """Draw changes, unless the session holds some, try those without a result, and print what the session holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, help="changes for each folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=places.FOLDERS, help="a folder; several times for several")
    parser.add_argument("--session", type=Path, default=Path(".mutation/session.sqlite"))
    parser.add_argument("--again", action="store_true", help="try again what was not noticed")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="what all tests of one change may take")
    parser.add_argument("--record", action="store_true", help="only note which lines the tests run")
    options = parser.parse_args()
    sys.path.insert(0, "")
    trial.preload()
    options.session.parent.mkdir(parents=True, exist_ok=True)
    records = reach.recorded(options.session.parent / "reach")
    if options.record:
        return
    with use_db(options.session) as db:
        if not db.num_work_items:
            for folder in options.only or places.FOLDERS:
                db.add_work_items(drawn(folder, options.count, options.seed))
        items = db.pending_work_items
        if options.again:
            items = [i for i, result in db.completed_work_items if result.test_outcome == TestOutcome.SURVIVED]
        warm.Warm(lambda processes: _try_all(db, items, records, processes, options.seconds)).run(reach.test_files())
        table(db)


def _try_all(
    db: WorkDB, items: Sequence[WorkItem], records: list[reach.Record], processes: warm.Warm, seconds: float
) -> None:
    for item in items:
        begin = time.perf_counter()
        result = tried(item.mutations[0], records, processes, seconds)
        db.set_result(item.job_id, result)
        spec = item.mutations[0]
        took = time.perf_counter() - begin
        print(
            f"{spec.module_path}:{spec.start_pos[0]} {result.test_outcome} {took:.1f} s",
            file=sys.__stderr__,
            flush=True,
        )


if __name__ == "__main__":
    main()
