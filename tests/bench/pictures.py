"""Pictures: the mirror layout and its SVG, beside Graphviz's `dot` on the same graphs.

    python -m tests.bench pictures                             # 100 to 100k operators, nothing folded
    python -m tests.bench pictures --sizes 100 1k --limit 60   # dot gets a minute each

Three shapes of programs are drawn: ``residual`` (blocks of a matrix product, an activation and a skip connection),
``wide`` (each operator reads the same variable, and one ``sum`` adds them all up) and ``chain`` (each operator reads
the one before). The columns are

    nodes, edges  what is drawn
    view          the program as a neutral view, seconds
    layout        places and ways for everything, seconds
    svg, dot      the text, seconds
    svg kB        its size
    fold          folding it down to 400 nodes, seconds
    dot -Tsvg     Graphviz's own layout, seconds, or the limit that it did not keep
    command       ``gradtool graph FILE -o FILE.svg`` as a whole, seconds, without folding
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.measuring import child, number, timed

COLUMNS = ("nodes", "edges", "view", "layout", "svg", "dot", "svg kB", "fold", "dot -Tsvg", "command")
TARGETS = "targets: 700 operators: command 0.3; 20k: layout 0.1, svg 2"
RUNS = 5

MODEL = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [8, 4])
{body}
loss = paddle.mean(h)
"""
RESIDUAL = """\
h = x
for i in range({times}):
    w = paddle.static.create_parameter([4, 4], "float32", name=f"w_{{i}}")
    h = h + paddle.nn.functional.relu(paddle.matmul(h, w))
"""
WIDE = "h = paddle.add_n([paddle.tanh(x) for _ in range({times})])"
CHAIN = """\
h = x * paddle.static.create_parameter([8, 4], "float32", name="w")
for _ in range({times}):
    h = paddle.tanh(h)
"""
SHAPES = {"residual": (RESIDUAL, 7), "wide": (WIDE, 2), "chain": (CHAIN, 2)}
"""Shape -> how a program of it is written, and how many operators there are, forward and backward, for each time."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench pictures", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=["100", "700", "1k", "10k", "20k", "100k"], help="operators")
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--limit", type=float, default=20.0, help="seconds that dot may take")
    parser.add_argument("--one", nargs=3, metavar=("SHAPE", "SIZE", "LIMIT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        shape, size, limit = options.one
        print(json.dumps(measure(shape, int(size), float(limit))))
        return
    for shape in options.shapes:
        print(f"\n{shape:<10}" + "".join(f"{c:>11}" for c in COLUMNS))
        for size in map(number, options.sizes):
            row = child("pictures", "--one", shape, str(size), str(options.limit))
            print(f"{size:<10}" + "".join(cell(row[c]) for c in COLUMNS), flush=True)
    print(TARGETS)


def cell(value: Any) -> str:
    return f"{value:>11.3f}" if isinstance(value, float) else f"{value:>11}"


def text_of(shape: str, size: int) -> str:
    """A model file whose program has about *size* operators, forward and backward."""
    body, each = SHAPES[shape]
    return MODEL.format(body=body.format(times=max(1, size // each)))


def measure(shape: str, size: int, limit: float) -> dict[str, Any]:
    """All columns for one program; times are the best of some runs."""
    from gradtool.engine.loading import opening
    from gradtool.engine.request.options import Cuts
    from gradtool.engine.request.request import Request
    from gradtool.viz import external, fold
    from gradtool.viz.mirror.layout import mirror
    from gradtool.viz.render import dot, svg

    runs = RUNS if size <= 20_000 else 1
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.py"
        file.write_text(text_of(shape, size), encoding="utf-8")
        with opening.open_model(Request(str(file))) as model:
            model.draw(Cuts())  # makes the backward part
            shown, figures["view"] = best(lambda: model.as_it_stands().view, runs)
        scene, figures["layout"] = best(lambda: mirror(shown), runs)
        picture, figures["svg"] = best(lambda: svg.render(scene), runs)
        _, figures["dot"] = best(lambda: dot.render(scene), 1)
        _, figures["fold"] = best(lambda: fold.automatic(shown), runs)
        figures |= {"nodes": len(scene.boxes), "edges": len(scene.routes), "svg kB": len(picture) // 1000}
        try:
            unplaced = dot.render(scene, placed=False)
            figures["dot -Tsvg"] = timed(lambda: external.draw(unplaced, "svg", program="dot", seconds=limit))[1]
        except external.GraphvizTimeout:
            figures["dot -Tsvg"] = f"> {limit:g}"
        except external.GraphvizError:
            figures["dot -Tsvg"] = "fails"
        program = [sys.executable, "-m", "gradtool", "graph", str(file)]
        command = [*program, "--collapse", "none", "-o", str(file.with_suffix(".svg"))]
        _, figures["command"] = best(lambda: subprocess.run(command, check=True), runs)
    return figures


def best(action: Any, runs: int) -> tuple[Any, float]:
    """The result, and the shortest of the times."""
    done = [timed(action) for _ in range(runs)]
    return done[0][0], min(seconds for _, seconds in done)


if __name__ == "__main__":
    main()
