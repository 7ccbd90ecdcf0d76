"""gradtool: see, explain and debug backward (gradient) graphs.

The public names follow PaddlePaddle's: ``gradtool.static``, ``gradtool.nn``, ``gradtool.ParamAttr``, … Everything is
loaded when it is first used; ``import gradtool`` alone loads neither NumPy nor the engine.

>>> import gradtool as paddle
>>> paddle.enable_static()
>>> x = paddle.static.data("x", [None, 4])
>>> loss = paddle.mean(paddle.static.nn.fc(x, 3, name="head"))
>>> [(p.name, g.name) for p, g in paddle.static.append_backward(loss)]
[('head.w_0', 'head.w_0@GRAD'), ('head.b_0', 'head.b_0@GRAD')]
"""

from __future__ import annotations

if __name__ != "gradtool":
    raise ImportError(f"this package is imported as 'gradtool', not as {__name__!r}: install it with pip")


from . import _lazy

__version__: str  # gradtool's own, or Paddle's where the package is called that: `_lazy.version_for`

__getattr__, __dir__ = _lazy.attach(__name__)


def as_paddle() -> None:
    """Let ``import paddle`` and ``import paddle.*`` find gradtool from now on, in this process.

    Raises:
        ImportError: the real paddle is already imported.
    """
    from . import _alias

    _alias.install()
