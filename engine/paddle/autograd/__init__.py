"""``paddle.autograd``: backward, derivatives of functions, operators of one's own."""

from __future__ import annotations

from gradtool.engine.eager.calls import backward, grad
from gradtool.engine.eager.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from gradtool.engine.eager.pylayer import PyLayer, PyLayerContext
from gradtool.engine.eager.recompute import recompute
from gradtool.engine.eager.saved import saved_tensors_hooks
from gradtool.paddle import _lazy

from ._matrices import Hessian, Jacobian, hessian, jacobian
from ._products import jvp, vjp

Function = PyLayer
"""The name that PyLayer has in other packages."""

__getattr__, __dir__ = _lazy.attach(__name__)

__all__ = [
    "Function",
    "Hessian",
    "Jacobian",
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "jvp",
    "no_grad",
    "recompute",
    "saved_tensors_hooks",
    "set_grad_enabled",
    "vjp",
]
