"""Random programs on NumPy, Numba, oneDNN and JAX: equal values and gradients.

::

    python -m tests.backends [COUNT [SEED]] [--backend NAME]… [--form single|chain]
"""

from __future__ import annotations

import argparse
from collections import Counter

from tests.jax import conftest as conftest  # JAX reads its settings when it is first imported

from ..differential.comparing import Difference
from ..differential.programs import drawn
from .comparing import BACKENDS, difference, on
from .decided import reason_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.backends", description=__doc__.partition("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="one of them; all by default")
    parser.add_argument("--form", choices=("single", "chain"), default="chain")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    shortest: dict[tuple[str, str, str], tuple[str, Difference]] = {}
    classes: Counter[tuple[str, str, str]] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        text = drawn(seed, "static", options.form)
        expected = on("numpy", text)
        counts["programs"] += 1
        counts["refused on numpy, and where it refuses"] += expected["refused"] is not None
        counts["values and gradients"] += len(expected["values"]) + len(expected["grads"])
        for name in options.backend or BACKENDS:
            gap = difference(text, expected, on(name, text))
            reason = gap and reason_of(name, text, gap)
            counts[f"{name}: {'equal' if gap is None else f'decided: {reason}' if reason else 'different'}"] += 1
            if gap is not None and not reason:
                key = (name, *gap.class_)
                classes[key] += 1
                if key not in shortest or len(text) < len(shortest[key][0]):
                    shortest[key] = text, gap
    print("\n".join(f"{count:8} {what}" for what, count in counts.items()))
    for key, count in classes.most_common():
        text, gap = shortest[key]
        print(f"\n{count} x {key[0]}: {gap.kind} of {gap.function} at {gap.where}")
        print(f"    {key[0]:<6} {gap.ours}\n    numpy  {gap.theirs}")
        print("\n".join(f"    {line}" for line in text.splitlines()))
    return 1 if classes else 0


if __name__ == "__main__":
    raise SystemExit(main())
