"""Sessions of model files, as ``gradtool debug`` opens them, without a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.core.notes import SILENT
from gradtool.engine.request.options import Debug
from gradtool.engine.request.request import Request
from gradtool.viz.debugger import from_models
from gradtool.viz.debugger.notebook import Notebook

Open = Callable[..., Notebook]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """``opened(text, catch=("nan",), on_error=True)`` is the notebook of a model file with that text."""
    with ExitStack() as stack:

        def open_(text: str, *, on_error: bool = False, model: str | None = None, **options: Any) -> Notebook:
            file = tmp_path / "model.py"
            file.write_text(text, encoding="utf-8")
            request = Request.create(model or str(file), post_mortem=on_error)
            return stack.enter_context(from_models.open_notebook(request, Debug(**options), SILENT))

        yield open_


def said(book: Notebook, line: str) -> str:
    """What a cell answers."""
    return book.execute(line)[0].text
