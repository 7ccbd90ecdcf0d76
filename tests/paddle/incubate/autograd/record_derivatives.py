"""Write ``derivatives.json``: matrices and products of derivatives as Paddle gives them.

Run with an interpreter that has Paddle 3.3.1: ``python tests/paddle/incubate/autograd/record_derivatives.py``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

TARGET = Path(__file__).with_name("derivatives.json")
CALLS = """\
Jacobian(lambda a: a * a, v)[:]
Jacobian(lambda a: a * a, v)[0]
Jacobian(lambda a: a * a, v)[0, 1]
Jacobian(lambda a: a * a, v)[0:2, :]
Jacobian(lambda a: a * a, v)[:, 1]
Jacobian(lambda a: a * a, v)[-1]
Jacobian(lambda a: a * a, v).shape
Jacobian(lambda a: a.sum(), v)[:]
Jacobian(lambda a: paddle.matmul(a, a), x)[:]
Jacobian(lambda a, c: paddle.matmul(a, c), [x, w])[:]
Jacobian(lambda a, c: (paddle.matmul(a, c), a.sum()), [x, w])[:]
Jacobian(lambda a, c: (paddle.matmul(a, c), a), (x, w)).shape
Jacobian(lambda a: paddle.ones([2], 'float64'), v)[:]
Jacobian(lambda a: a, v)[:]
Jacobian(lambda a: a * a, b, is_batched=True)[:]
Jacobian(lambda a: a * a, b, is_batched=True).shape
Jacobian(lambda a: a * a, b, True)[:, 0, :]
Jacobian(lambda a: a * a, b, True)[:, :, 1]
Jacobian(lambda a: a * a, b, True)[0]
Jacobian(lambda a: a * a, b, True)[0:1, 1:3]
Jacobian(lambda a: a * a, b, True)[:, 0, 1]
Jacobian(lambda a, c: paddle.matmul(a, c), [x, w], is_batched=True)[:]
Jacobian(lambda a: a.sum(-1), b, True)[:]
Jacobian(lambda a: a.sum(-1, keepdim=True), b, True)[:]
Jacobian(lambda a: a * a, v, True)[:]
Hessian(lambda a: (a * a * a).sum(), v)[:]
Hessian(lambda a: (a * a * a).sum(), v).shape
Hessian(lambda a: (a * a * a).sum(), v)[0]
Hessian(lambda a: (a * a * a).sum(), x)[:]
Hessian(lambda a, c: (a * a * c).sum(), [x, w])[:]
Hessian(lambda a: (a * a * a).sum(-1, keepdim=True), b, is_batched=True)[:]
Hessian(lambda a: (a * a * a).sum(-1), b, is_batched=True)[:]
Hessian(lambda a: (a * a * a).sum(-1, keepdim=True), b, is_batched=True)[:, 0, :]
Hessian(lambda a, c: (a * a * c).sum(-1, keepdim=True), [x, w], is_batched=True)[:]
Hessian(lambda a: a.sum(), v)[:]
vjp(lambda a: a * a, v)
vjp(lambda a: a * a, v, u)
vjp(lambda a, c: paddle.matmul(a, c), [x, w])
vjp(lambda a, c: (paddle.matmul(a, c), a * c), (x, w), [w, x])
vjp(lambda a, c: a * a, (x, w))
vjp(lambda a: a * a, [v], [u])
jvp(lambda a: a * a, v)
jvp(lambda a: a * a, v, u)
jvp(lambda a, c: paddle.matmul(a, c), [x, w])
jvp(lambda a, c: (paddle.matmul(a, c), a * c), (x, w), [w, x])
jvp(lambda a: a * a, [v], u)
jvp(lambda a: a * 0 + 1, v)
trained(vjp(lambda a: a * a * a, t)[1])
trained(Jacobian(lambda a: a * a * a, t)[:])
trained(Hessian(lambda a: (a * a * a * a).sum(), t)[:])
trained(vjp(lambda a: a * a * a, t)[0])
autograd.jacobian(q * q, q, batch_axis=0)[:]
autograd.jacobian(q * q, q, batch_axis=0).shape
autograd.jacobian(q * q, q, batch_axis=0)[0]
autograd.jacobian(q * q, q, batch_axis=0)[:, 1]
autograd.jacobian(q * q, q, batch_axis=0)[:, :, 0]
autograd.jacobian((q * q, q[:, :1]), q, batch_axis=0)[1][:]
autograd.jacobian(t * t, t, batch_axis=0)[:]
autograd.hessian((q * q * q).sum(-1), q, batch_axis=0)[:]
autograd.hessian((q * q * q).sum(-1, keepdim=True), q, batch_axis=0)[:]
autograd.hessian((q * q).sum(-1), (q, q), batch_axis=0)[0][1][:]
Jacobian(lambda a: a * a, v)[...]
Jacobian(lambda a: a * a, v)[5]
Hessian(lambda a: a * a, v)[:]
Hessian(lambda a: a * a, b, is_batched=True)[:]
vjp(lambda a: a * a, v, u[:2])
vjp(lambda a: a * a, v, 3.0)
vjp(lambda a: a * a, v, [u, u])
jvp(lambda a: a * a, v, u[:2])
jvp(lambda a: a * a, [v], [v, v])
""".splitlines()


def answer(paddle: Any, call: str) -> Any:
    """What *call* gives, as lists of numbers, or which error of Python it raises."""

    def tensor(values: Any, stop: bool = True) -> Any:
        made = paddle.to_tensor(np.array(values, "float64"))
        made.stop_gradient = stop
        return made

    t = tensor([1.0, 2.0], False)

    def trained(result: Any) -> Any:
        result.sum().backward()
        return t.grad

    names = {
        "x": tensor([[1.0, 2.0], [3.0, 4.0]]),
        "w": tensor([[0.5, -1.0], [2.0, 1.0]]),
        "v": tensor([1.0, 2.0, 3.0]),
        "u": tensor([1.0, 0.0, 2.0]),
        "b": tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "q": tensor([[1.0, 2.0], [3.0, 4.0]], False),
        "t": t,
        "trained": trained,
        "autograd": paddle.autograd,
        "paddle": paddle,
        **{name: getattr(paddle.incubate.autograd, name) for name in ("Jacobian", "Hessian", "vjp", "jvp")},
    }
    try:
        return plain(eval(call, names))
    except Exception as error:
        bases = (IndexError, TypeError, RuntimeError, ValueError)
        return next(b.__name__ for b in bases if isinstance(error, b))


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value if isinstance(value, int) else np.round(value.numpy(), 9).tolist()


if __name__ == "__main__":
    import paddle

    rows = [f"{json.dumps(call)}: {json.dumps(answer(paddle, call))}" for call in CALLS]
    TARGET.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(len(rows), "calls", file=sys.stderr)
