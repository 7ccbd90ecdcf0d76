"""Comparing two graphs, and git's comparison of the same graphs as text beside it.

::

    python -m tests.bench diff [LAYERS ...]

Deep nets that differ in one operator in the middle: layers, operators, then seconds of the alignment alone, and of
``git diff --no-index`` (Myers' algorithm) on the two texts of ``--write-golden``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from gradtool.engine.answers.diff import golden
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.answers.diff.structure import difference
from gradtool.engine.core.notes import SILENT
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.sides import outline_of
from gradtool.engine.request.request import Request
from tests.bench.measuring import timed

SIZES = (100, 1000, 4000)
TEXT = """\
import paddle

layers = [paddle.nn.Linear(4, 4) for _ in range(20)]
h = paddle.rand([2, 4])
for i in range({layers}):
    h = layers[i % 20](h)
    if i == {middle}:
        h = paddle.tanh(h)
    h = paddle.nn.functional.relu(h)
loss = h.mean()
"""


def outline(folder: Path, layers: int, middle: int) -> Outline:
    """The graph of a net; *middle* is the layer that has an operator more."""
    file = folder / f"net{middle}.py"
    file.write_text(TEXT.format(layers=layers, middle=middle), encoding="utf-8")
    return outline_of(str(file), Request(str(file)), Backward(), SILENT)


def main(sizes: tuple[int, ...]) -> None:
    """Print a line for each size."""
    print(f"{'layers':>8}{'operators':>12}{'difference':>14}{'git diff':>14}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for layers in sizes:
            before, after = outline(folder, layers, -1), outline(folder, layers, layers // 2)
            texts = []
            for side, graph in (("a", before), ("b", after)):
                texts.append(folder / f"{side}.gt.txt")
                texts[-1].write_text(golden.write(graph), encoding="utf-8")
            words = ["git", "diff", "--no-index", "--stat", *map(str, texts)]
            ours = min(timed(partial(difference, before, after))[1] for _ in range(3))
            theirs = min(timed(partial(subprocess.run, words, check=False, capture_output=True))[1] for _ in range(3))
            print(f"{layers:>8}{len(before.operations):>12}{ours:>12.3f} s{theirs:>12.3f} s")


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
