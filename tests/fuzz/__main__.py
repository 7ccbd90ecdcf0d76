"""Changed files into every reader, random names through every form of output.

python -m tests.fuzz                  # a few thousand cases
python -m tests.fuzz 100000 7         # so many, from that seed
python -m tests.fuzz --case KIND NUMBER SEED   # one of them again, with its traceback
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter

from . import hunting


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=3000, help="how many cases")
    parser.add_argument("seed", nargs="?", type=int, default=0, help="what they are drawn from")
    parser.add_argument("--only", metavar="KIND", help="kinds that begin so")
    parser.add_argument("--case", nargs=3, metavar=("KIND", "NUMBER", "SEED"), help="run one case again")
    options = parser.parse_args()
    with hunting.bounded():
        if options.case:
            kind, number, seed = options.case
            failure = hunting.run(kind, int(number), int(seed))
            print(failure or "nothing is wrong")
            return int(failure is not None)
        return _all(options.count, options.seed, options.only or "")


def _all(count: int, seed: int, only: str) -> int:
    failures: Counter[str] = Counter()
    print(f"{'kind':<40}{'cases':>8}{'failures':>10}{'seconds':>9}{'slowest':>9}")
    for kind, share in hunting.shares(count).items():
        if not kind.startswith(only):
            continue
        begin = time.process_time()
        slowest = 0.0
        for number in range(share):
            start = time.process_time()
            failure = hunting.run(kind, number, seed)
            slowest = max(slowest, time.process_time() - start)
            if failure is not None:
                failures[kind] += 1
                print(failure, file=sys.stderr, flush=True)
        took = time.process_time() - begin
        print(f"{kind:<40}{share:>8}{failures[kind]:>10}{took:>9.1f}{slowest:>9.2f}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{failures.total()} failures; at most {peak:.0f} MiB of memory")
    return int(failures.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
