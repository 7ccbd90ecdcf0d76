"""Expressions that make a tensor: factories, methods, and what holds parameters; ``free`` lets it take a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

FACTORIES = (
    "paddle.to_tensor([1.0, 2.0])",
    "paddle.to_tensor(np.ones(2, 'float32'))",
    "paddle.ones([2])",
    "paddle.zeros([2])",
    "paddle.full([2], 1.5)",
    "paddle.rand([2])",
    "paddle.randn([2])",
    "paddle.uniform([2])",
    "paddle.normal(0.0, 1.0, [2])",
    "paddle.standard_normal([2])",
    "paddle.arange(2, dtype='float32')",
    "paddle.linspace(0, 1, 2)",
    "paddle.logspace(0, 1, 2)",
    "paddle.eye(2)",
    "paddle.empty([2])",
    "paddle.ones_like(paddle.zeros([2]))",
    "paddle.zeros_like(paddle.zeros([2]))",
    "paddle.full_like(paddle.zeros([2]), 2.0)",
    "paddle.empty_like(paddle.zeros([2]))",
    "paddle.bernoulli(paddle.full([2], 0.5))",
    "paddle.poisson(paddle.full([2], 0.5))",
    "paddle.assign(np.ones(2, 'float32'))",
    "paddle.ones([2]).clone()",
    "paddle.tril(paddle.ones([2, 2]))",
    "paddle.diag(paddle.ones([2]))",
    "paddle.ones([2]).astype('float64')",
    "paddle.ones([2]).cpu()",
    "paddle.Tensor(np.ones(2, 'float32'))",
    "paddle.create_parameter([2], 'float32').detach()",
    "paddle.to_tensor([1.0, 2.0], stop_gradient=False).detach()",
)

METHODS = (
    "paddle.to_tensor([1.0, 2.0], stop_gradient=False)",
    "paddle.to_tensor(free(paddle.ones([2])), stop_gradient=False)",
    "free(paddle.ones([2])).clone()",
    "free(paddle.ones([2])).cpu()",
    "free(paddle.ones([2])).astype('float64')",
    "free(paddle.ones([2])).to('float64')",
    "free(paddle.ones([2])).to('cpu')",
    "free(paddle.ones([2])).reshape([2, 1])",
    "free(paddle.ones([2])) * 2",
    "stop(free(paddle.ones([2])))",
    "free(stop(free(paddle.ones([2]))))",
    "stop(free(paddle.ones([2])) * 2)",
    "free(stop(free(paddle.ones([2])) * 2))",
    "copy.deepcopy(free(paddle.ones([2])))",
    "done(free(paddle.ones([2])), lambda t: t.set_value(np.ones(2, 'float32')))",
    "done(free(paddle.ones([2])), lambda t: t.copy_(paddle.ones([2]), True))",
    "paddle.to_tensor(free(paddle.ones([2])).numpy())",
)

PARAMETERS = (
    "paddle.create_parameter([2], 'float32')",
    "paddle.create_parameter([2], 'float32', attr=paddle.ParamAttr(initializer=nn.initializer.Constant(2.0)))",
    "paddle.create_parameter([2], 'float32', attr=paddle.ParamAttr(trainable=False))",
    "paddle.create_parameter([2], 'float32', is_bias=True)",
    "paddle.static.create_parameter([2], 'float32')",
    "nn.Layer().create_parameter([2])",
    "nn.Layer().create_parameter([2], attr=paddle.ParamAttr(learning_rate=0.1))",
    "nn.Linear(2, 2).weight",
    "nn.Embedding(2, 2).weight",
    "nn.ParameterList([paddle.create_parameter([2], 'float32')])[0]",
    "done(nn.ParameterList(), lambda l: l.append(paddle.create_parameter([2], 'float32')))[0]",
    "nn.LayerList([nn.Linear(2, 2)])[0].weight",
    "nn.LayerDict({'a': nn.Linear(2, 2)})['a'].weight",
    "nn.ParameterDict({'a': paddle.create_parameter([2], 'float32')})['a']",
    "done(nn.Layer(), lambda l: l.add_parameter('p', paddle.create_parameter([2], 'float32'))).p",
    "done(nn.Layer(), lambda l: l.register_buffer('b', paddle.ones([2]))).b",
    "done(nn.Layer(), lambda l: l.register_buffer('b', free(paddle.ones([2])))).b",
    "done(nn.Layer(), lambda l: setattr(l, 'b', free(paddle.ones([2])))).b",
    "paddle.base.framework.EagerParamBase.from_tensor(paddle.ones([2]))",
    "copy.deepcopy(nn.Linear(2, 2)).weight",
    "copy.deepcopy(paddle.create_parameter([2], 'float32'))",
    "copy.deepcopy(paddle.create_parameter([2], 'float32', attr=paddle.ParamAttr(trainable=False)))",
    "done(nn.Linear(2, 2), lambda l: l.set_state_dict(nn.Linear(2, 2).state_dict())).weight",
    "done(paddle.create_parameter([2], 'float32'), lambda p: p.set_value(np.ones(2, 'float32')))",
    "nn.Linear(2, 2).to(dtype='float64').weight",
    "nn.Linear(2, 2).astype('float64').weight",
    "nn.Linear(2, 2).float().weight",
    "nn.Linear(2, 2).state_dict()['weight']",
    "paddle.create_parameter([2], 'float32').astype('float64')",
    "paddle.create_parameter([2], 'float32').clone()",
    "free(paddle.create_parameter([2], 'float32').detach())",
    "done(paddle.create_parameter([2], 'float32'), lambda p: setattr(p, 'trainable', False))",
    "paddle.assign(paddle.create_parameter([2], 'float32'))",
    "paddle.to_tensor(paddle.create_parameter([2], 'float32'))",
    "paddle.to_tensor(paddle.create_parameter([2], 'float32'), stop_gradient=False)",
    "paddle.create_parameter([2], 'float32')[:1]",
    "nn.BatchNorm1D(2)._mean",
    "paddle.no_grad()(lambda: nn.Linear(2, 2).weight)()",
    "nn.utils.weight_norm(nn.Linear(2, 2)).weight_g",
    "nn.utils.spectral_norm(nn.Linear(2, 2)).weight_orig",
    "globally(nn.initializer.Constant(2.0))",
)

CALLS = (*FACTORIES, *(f"free({text})" for text in FACTORIES), *METHODS, *PARAMETERS)

HELP = """\
import copy
import numpy as np
import paddle
import paddle.nn as nn

def free(t):
    t.stop_gradient = False
    return t

def stop(t):
    t.stop_gradient = True
    return t

def done(t, act):
    act(t)
    return t

def globally(initializer):
    nn.initializer.set_global_initializer(initializer)
    layer = nn.Linear(2, 2)
    nn.initializer.set_global_initializer(None)
    return layer.weight

"""
"""The start of a script that makes such a tensor."""


def outcome(paddle: Any, text: str) -> dict[str, list[Any]]:
    """Return whether the tensor stops gradients, whether it is a leaf, and whether ``(w * 3).sum()`` gives 3s to it."""
    lines = [line for line in HELP.splitlines() if not line.startswith("import paddle")]
    scope: dict[str, Any] = {"paddle": paddle, "nn": paddle.nn}
    exec("\n".join(lines), scope)
    w = eval(text, scope)
    stops, is_leaf = w.stop_gradient, w.is_leaf
    loss = (w * 3.0).sum()
    if not loss.stop_gradient:
        loss.backward()
    given = w.grad is not None and bool((w.grad.numpy() == 3).all())
    return {"stops, leaf, gradient": [np.array([int(stops), int(is_leaf), int(given)])]}
