"""Paddle's public names: ``paddle.static``, ``paddle.nn``, ``paddle.ParamAttr``, …

Everything is loaded when it is first used. ``import paddle`` finds this package after ``gradtool.as_paddle()``, and in
files that the command line runs.

>>> from gradtool import paddle
>>> paddle.enable_static()
>>> x = paddle.static.data("x", [None, 4])
>>> loss = paddle.mean(paddle.static.nn.fc(x, 3, name="head"))
>>> [(p.name, g.name) for p, g in paddle.static.append_backward(loss)]
[('head.w_0', 'head.w_0@GRAD'), ('head.b_0', 'head.b_0@GRAD')]
"""

from __future__ import annotations

if __name__ != "gradtool.paddle":
    raise ImportError(f"this package is imported as 'gradtool.paddle', not as {__name__!r}")


from . import _lazy

__version__ = "3.3.1"
"""The version of Paddle whose names and values these are."""

__getattr__, __dir__ = _lazy.attach(__name__)
