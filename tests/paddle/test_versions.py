"""``gradtool.__version__`` is the tool's, ``paddle.__version__`` that of the Paddle whose names these are."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool
from gradtool import paddle
from gradtool.paddle import _alias, version


def test_versions_of_the_tool_and_of_paddle() -> None:
    assert paddle.__version__ == version.full_version
    assert gradtool.__version__ != paddle.__version__
    assert paddle.__version__ >= "2.0"


@pytest.mark.parametrize(
    "code",
    [
        "import paddle\nv = paddle.__version__",
        "import paddle as pd\nv = pd.__version__",
        "from paddle import __version__ as v",
        "import paddle\nv = getattr(paddle, '__version__')",
    ],
)
def test_paddle_by_its_name(code: str) -> None:
    space: dict[str, Any] = {"__name__": "script"}
    with _alias.active():
        exec(code, space)
    assert space["v"] == version.full_version
