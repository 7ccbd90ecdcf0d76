"""A sweep on local workers: processor time of many points, beside their work one after the other in one process.

    python -m tests.bench sweep
    python -m tests.bench sweep --points 10000 --jobs 2

The work is the processor time of ``nan`` at a point, of a program whose rows are fed, in this process and without a
sweep's own steps; the sweep is a command of its own, with its workers, counted as a whole. Target: 1.3 times the work.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gradtool.engine.sweeps.axes import Axes
from gradtool.engine.sweeps.point_rows import compute_row
from gradtool.engine.sweeps.spec import Spec

MODEL = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [None, 32])
h = x
for _ in range({layers}):
    h = paddle.nn.functional.relu(paddle.static.nn.fc(h, 32))
loss = paddle.mean(h)
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench sweep", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=1000, help="rows that are fed one by one")
    parser.add_argument("--jobs", type=int, default=2, help="workers of the sweep")
    parser.add_argument("--layers", type=int, default=4, help="of the program: more of them, longer points")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("model.py").write_text(MODEL.format(layers=options.layers), encoding="utf-8")
        rows = np.random.default_rng(0).random((options.points, 32), "float32")
        np.savez("data.npz", x=rows)
        each = work(min(options.points, 300))
        cpu, seconds = swept(options.jobs)
    print(f"work of a point            {each * 1e3:8.2f} ms")
    print(f"work of {options.points:6d} points      {each * options.points:8.2f} s")
    print(f"sweep --jobs {options.jobs}, processor  {cpu:8.2f} s   × {cpu / (each * options.points):.2f}")
    print(f"sweep --jobs {options.jobs}, by the clock {seconds:6.2f} s")


def work(count: int) -> float:
    """Seconds of processor time that a point takes."""
    spec = Spec(question="nan")
    points = Axes(models=("model.py",), data="data.npz", batches=(1,)).points()[:count]
    for point in points[:5]:
        compute_row(spec, point, "")
    begun = time.process_time()
    for point in points:
        compute_row(spec, point, "")
    return (time.process_time() - begun) / len(points)


def swept(jobs: int) -> tuple[float, float]:
    """Processor time of the command with all its processes, and seconds by the clock."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = ["sweep", "nan", "model.py", "--rows", "data.npz", "--jobs", str(jobs), "--results", "rows.jsonl", "-q"]
    program = f"from gradtool.cli.main import main; main({words!r})"
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - begun


if __name__ == "__main__":
    main()
