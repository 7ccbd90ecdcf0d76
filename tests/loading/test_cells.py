"""The cells of a notebook as Python: what is the notebook's own goes, every line stays where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradtool.engine.script import magics
from tests.cli.conftest import Run

HEAD = "import paddle\nw = paddle.create_parameter([2], 'float32')\n"
PASS = "loss = w.sum()\nloss.backward()\n"


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("a = 1\n%matplotlib inline\n!pip list\n", "a = 1\npass  # %matplotlib inline\npass  # !pip list\n"),
        ("?a\na?\n", "pass  # ?a\npass  # a?\n"),
        ("if a:\n    !ls\n", "if a:\n    pass  # !ls\n"),
        ("print('%d'\n  % a)\n", None),
        ("text = '''\n%time\n!ls\n'''\n", None),
        ("total = a \\\n  % b\n", None),
        ("a = 'it''s # no (comment'\n%time b = f(a)\n", "a = 'it''s # no (comment'\nb = f(a)\n"),
        ("# (\n%timeit -n 1 -r 1 f()\n", "# (\nf()\n"),
        ("lines = !ls\n", "lines = ['!ls: gradtool runs no shell commands']\n"),
        ("%%time\nfit()\n", "# %%time\nfit()\n"),
        ("%%bash\nls (\n", "# %%bash\n# ls (\n"),
        ("\n%%html\n<b>\n", "# \n# %%html\n# <b>\n"),
        ("%time", "pass  # %time\n"),
        ("", ""),
    ],
)
def test_cells_become_python(cell: str, python: str | None) -> None:
    assert magics.python(cell) == (cell if python is None else python)


def book(folder: Path, *cells: dict[str, object]) -> str:
    code = [{"cell_type": "code", **cell} for cell in cells]
    (folder / "book.ipynb").write_text(json.dumps({"cells": code, "nbformat": 4}), encoding="utf-8")
    return "book.ipynb"


def test_cells_write_and_run_files(gradtool: Run, folder: Path) -> None:
    cells = (
        "%%writefile sizes.py\nWIDTH = 2\n",
        "%%writefile -a sizes.py\nWIDTH = 3\n",
        "%run sizes.py",
        f"{HEAD}{PASS}assert WIDTH == 3",
    )
    done = gradtool("why", book(folder, *({"source": cell} for cell in cells)))
    assert done.code == 0, done.err
    assert "1 of 1 parameter gets a gradient" in done.out
    assert not (folder / "sizes.py").exists()


def test_cells_show_things_and_ask_their_shell(gradtool: Run, folder: Path) -> None:
    text = f"{HEAD}{PASS}display(loss.shape)\nget_ipython().run_line_magic('matplotlib', 'inline')"
    done = gradtool("why", book(folder, {"source": text}))
    assert (done.code, "[]" in done.err) == (0, True), done.err


ERROR = {"output_type": "error", "ename": "NameError", "evalue": "", "traceback": []}


@pytest.mark.parametrize(
    ("cell", "goes_on"),
    [
        ({"metadata": {"tags": ["raises-exception"]}}, True),
        ({"outputs": [ERROR], "execution_count": 1}, True),
        ({"outputs": [ERROR], "execution_count": 9}, False),
        ({}, False),
    ],
)
def test_an_error_that_the_author_went_on_after(
    gradtool: Run, folder: Path, cell: dict[str, object], goes_on: bool
) -> None:
    done = gradtool(
        "why",
        book(folder, {"source": HEAD}, {**cell, "source": "no_such_name"}, {"source": PASS, "execution_count": 2}),
    )
    assert done.code == (0 if goes_on else 3)
    assert ("the cells after it run" in done.err) is goes_on
    assert "no_such_name" in done.err
    assert ("gets a gradient" in done.out) is goes_on
