"""The operator that CONTRIBUTING.md adds as its example really works, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"

BEFORE = """
from gradtool._dispatch import apply
from gradtool.engine.ops.opdef import Like, Trait, op
"""

AFTER = """
import numpy as np
import gradtool as paddle

paddle.enable_static()
x = paddle.static.data("x", [None, 3], "float64")
x.stop_gradient = False
y = lorentzian(x, height=1.5, width=0.5)
(first,) = paddle.static.gradients(y, x)
(second,) = paddle.static.gradients(first, x)
types = {o.type for o in y.block.ops}
assert {"lorentzian", "lorentzian_grad", "lorentzian_grad_grad"} <= types, types

values = np.random.default_rng(0).normal(size=(4, 3))
out, slope, bend = paddle.static.Executor().run(feed={"x": values}, fetch_list=[y, first, second])
s = 1 + 4 * values**2
np.testing.assert_allclose(out, 1.5 / s)
np.testing.assert_allclose(slope, -12 * values / s**2)
np.testing.assert_allclose(bend, (144 * values**2 - 12) / s**3)
print("right")
"""


def test_the_example_operator_has_gradients_of_two_orders(tmp_path: Path) -> None:
    chapter = GUIDE.read_text(encoding="utf-8").partition("## Adding an operator\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", chapter, re.DOTALL)
    assert len(blocks) == 2
    program = tmp_path / "example.py"
    program.write_text("\n".join([BEFORE, *blocks, AFTER]), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "right\n"
