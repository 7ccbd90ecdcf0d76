"""Packages that only show something: a model goes on without them, and nothing is computed with what they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.script import absent_packages
from tests.cli.conftest import Run

MODEL = "import paddle\nw = paddle.create_parameter([2], 'float32')\nloss = w.sum()\nloss.backward()\n"


@pytest.fixture(autouse=True)
def _nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that are certainly not installed take the places of those that may be."""
    monkeypatch.setattr(absent_packages, "PACKAGES", frozenset({"no_plots", "no_bars"}))


def model(folder: Path, text: str) -> str:
    (folder / "model.py").write_text(text + MODEL, encoding="utf-8")
    return "model.py"


SHOWS = """\
import no_plots.pyplot as plt
from no_bars.auto import tqdm, trange
figure, axes = plt.subplots(1, 2, figsize=(4, 2))
_, grid = plt.subplots(2, 2)
_, one = plt.subplots()
for axis in (*axes, *grid.flat, one):
    line, = axis.plot([1, 2], label="loss")
    axis.legend(loc="best").frame.set_visible(False)
with plt.style.context("dark"):
    plt.rcParams["figure.dpi"] = 90
    plt.show()
bar = tqdm([3, 4], desc="epoch")
assert [x for x in bar] == [3, 4] and len(bar) == 2 and list(trange(2)) == [0, 1]
bar.set_postfix(loss=1.0)
"""


def test_plots_and_bars_do_nothing(gradtool: Run, folder: Path) -> None:
    done = gradtool("why", model(folder, SHOWS))
    assert done.code == 0, done.err
    assert "1 of 1 parameter gets a gradient" in done.out
    for package in ("no_plots", "no_bars"):
        assert f"{package} is not installed where gradtool is: what model.py shows with it is not shown" in done.err


@pytest.mark.parametrize("use", ["float(plt.figure().dpi)", "if plt.isinteractive(): pass", "a, b = plt.hist([1])"])
def test_nothing_is_computed_with_them(gradtool: Run, folder: Path, use: str) -> None:
    done = gradtool("why", model(folder, f"import no_plots.pyplot as plt\n{use}\n"))
    assert done.code == 4
    assert "no_plots is not installed, and what no_plots.pyplot." in done.err


@pytest.mark.parametrize("caught", ["ImportError", "(ValueError, ModuleNotFoundError)", "Exception", ""])
def test_what_a_model_does_without_them_is_done(gradtool: Run, folder: Path, caught: str) -> None:
    text = f"try:\n    import no_plots\nexcept {caught}:\n    no_plots = None\nassert no_plots is None\n"
    assert gradtool("why", model(folder, text)).code == 0


def test_other_packages_are_missed(gradtool: Run, folder: Path) -> None:
    done = gradtool("why", model(folder, "import no_tables\n"))
    assert done.code == 3
    assert "gradtool runs models in its own Python: install no_tables there" in done.err
