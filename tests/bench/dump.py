"""What the dump of a backward pass takes: seconds and bytes, for the decoder of twelve blocks and for long chains.

python -m tests.bench dump
python -m tests.bench dump --chains 1k 10k
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.measuring import ROOT, number, timed

FILES = ("backward_graph.dot", "ref_forward_graph.dot", "call_stack.log", "manifest.json")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench dump", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chains", nargs="*", default=["1k", "10k", "20k"], help="operators in a chain: 500, 10k")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "samples"))
    import eager_decoder  # type: ignore[import-not-found]

    print(f"{'graph':<16}{'operators':>10}{'pass ms':>10}{'dump ms':>10}" + "".join(f"{f:>22}" for f in FILES))
    row("twelve blocks", lambda: eager_decoder.build()[0])
    for size in map(number, options.chains):
        row(f"chain of {size}", lambda count=size: chain(count))


def row(title: str, make: Any) -> None:
    """Backward alone, and what the dump adds to it; the better of three."""
    alone = min(timed(make().backward)[1] for _ in range(3))
    whole = 1e9
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            loss = make()
            whole = min(whole, timed(lambda: loss.backward(dump_backward_graph_path=folder))[1])  # noqa: B023
            paths = list(Path(folder).iterdir())
            sizes = [next(p.stat().st_size for p in paths if p.name.endswith(f"_{f}")) for f in FILES]
            text = next(p.read_text(encoding="utf-8") for p in paths if p.name.endswith(FILES[0]))
    operators = text.count("\n\top") - text.count("\n\top", text.index(" -> "))
    print(
        f"{title:<16}{operators:>10}{alone * 1e3:>10.1f}{(whole - alone) * 1e3:>10.1f}"
        + "".join(f"{s:>22}" for s in sizes)
    )


def chain(count: int) -> Any:
    from gradtool import paddle

    h = paddle.to_tensor([1.0], stop_gradient=False)
    for _ in range(count):
        h = h * 1.0
    return h


if __name__ == "__main__":
    main()
