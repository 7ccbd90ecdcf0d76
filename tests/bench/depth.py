"""Dynamic mode: a chain of a million operators runs backward and is freed, in linear time and without recursion.

    python -m tests.bench depth
    python -m tests.bench depth --sizes 10k 100k 1M 3M

Each row is a fresh process; microseconds per operator, and the memory that the chain takes per operator.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import weakref

from tests.bench.measuring import child, memory, number, timed

COLUMNS = ("record", "backward", "free", "collect", "KB")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench depth", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=["10k", "100k", "1M"], help="operators: 500, 10k, 1M")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    print(f"{'size':<10}" + "".join(f"{c:>10}" for c in COLUMNS))
    for size in map(number, options.sizes):
        row = child("depth", "--one", str(size))
        print(f"{size:<10}" + "".join(f"{row[c]:>10.2f}" for c in COLUMNS), flush=True)


def measure(size: int) -> dict[str, float]:
    """*record* the chain, run it *backward* and *free* it; *collect* a second one that only its own cycle holds."""
    from gradtool import paddle

    sys.setrecursionlimit(200)
    x = paddle.to_tensor([1.0], stop_gradient=False)

    def chain() -> object:
        h = x
        for _ in range(size):
            h = h + x
        return h

    paddle.add(x, x).backward()
    x.clear_grad()
    before = memory()
    h, record = timed(chain)
    kilobytes = (memory() - before) / 1024
    assert isinstance(h, paddle.Tensor)
    _, backward = timed(h.backward)
    assert x.grad.item() == size + 1
    node = weakref.ref(h.node)
    holder = [h]
    del h
    _, free = timed(holder.clear)
    assert node() is None
    h = chain()
    node = weakref.ref(h.node)
    holder = [h]
    holder.append(holder)
    del h, holder
    _, collect = timed(gc.collect)
    assert node() is None
    times = {"record": record, "backward": backward, "free": free, "collect": collect}
    return {**{name: seconds / size * 1e6 for name, seconds in times.items()}, "KB": kilobytes / size}


if __name__ == "__main__":
    main()
