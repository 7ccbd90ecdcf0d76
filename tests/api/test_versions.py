"""``__version__`` is Paddle's for who calls the package paddle, and gradtool's own for who calls it gradtool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gradtool import _alias, version
from gradtool._lazy import VERSION

PADDLE = version.full_version


@pytest.fixture(params=[False, True], ids=["alias off", "alias on"])
def alias(request: pytest.FixtureRequest) -> Iterator[bool]:
    if request.param:
        with _alias.active():
            yield True
    else:
        yield False


def run(code: str) -> Any:
    space: dict[str, Any] = {"__name__": "script"}
    exec(code, space)
    return space["v"]


@pytest.mark.usefixtures("alias")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import gradtool\nv = gradtool.__version__", VERSION),
        ("import gradtool as paddle\nv = paddle.__version__", PADDLE),
        ("import gradtool\nimport gradtool as paddle\nv = paddle.__version__", PADDLE),
        ("def f():\n    import gradtool\n    return gradtool.__version__\nv = f()", VERSION),
        ("def f():\n    import gradtool as paddle\n    return paddle.__version__ >= '2.0'\nv = f()", True),
        ("import gradtool as paddle\nv = paddle.version.full_version", PADDLE),
    ],
)
def test_who_asks(code: str, expected: Any) -> None:
    assert run(code) == expected


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
    with _alias.active():
        assert run(code) == PADDLE
