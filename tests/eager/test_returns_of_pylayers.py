"""The values that ``PyLayer.backward`` may return, and that ``forward`` must: as Paddle 3.1.1 and 3.3.1 take them."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import paddle
from gradtool.paddle.autograd import PyLayer

pytestmark = pytest.mark.usefixtures("dynamic")

REFUSED = "refused"


def needs() -> Any:
    return paddle.to_tensor([1.0, 1.0], stop_gradient=False)


def data() -> Any:
    return paddle.ones([2])


def tensors_in(values: Any) -> list[Any]:
    """Return the tensors among arguments, one list deep."""
    flat = []
    for v in values:
        flat += [t for t in v if isinstance(t, paddle.Tensor)] if isinstance(v, (list, tuple)) else [v]
    return [v for v in flat if isinstance(v, paddle.Tensor)]


def gradients(value: Any) -> Any:
    """Return the first element of each gradient, in the nesting of the arguments."""
    if isinstance(value, (list, tuple)):
        return [gradients(v) for v in value]
    if not isinstance(value, paddle.Tensor) or value.grad is None:
        return None
    return float(value.grad[0])


def apply_sum(backward: Any, args: list[Any], named: dict[str, Any]) -> Any:
    """Return the gradients of a layer that sums its tensors, or that its backward was refused."""

    def forward(ctx: Any, *args: Any, **named: Any) -> Any:
        total = paddle.zeros([2])
        for t in tensors_in([*args, *named.values()]):
            total = total + t
        return total

    made: Any = type("Sum", (PyLayer,), {"forward": forward, "backward": staticmethod(lambda ctx, dy: backward(dy))})
    try:
        made.apply(*args, **named).sum().backward()
    except ValueError:
        return REFUSED
    return gradients([*args, *named.values()])


Case = tuple[Any, Any, dict[str, Any], Any]

CASES: dict[str, Case] = {
    "data first, its gradient left out": (lambda d: (d, d), lambda: [data(), needs(), needs()], {}, REFUSED),
    "data first, None for it": (lambda d: (None, d, d), lambda: [data(), needs(), needs()], {}, [None, 1, 1]),
    "data last, left out": (lambda d: (d, d), lambda: [needs(), needs(), data()], {}, [1, 1, None]),
    "data last, None for it": (lambda d: (d, d, None), lambda: [needs(), needs(), data()], {}, [1, 1, None]),
    "a gradient for data": (lambda d: (d, d, d), lambda: [data(), needs(), needs()], {}, REFUSED),
    "too many": (lambda d: (d, d, d, None), lambda: [needs(), needs(), needs()], {}, REFUSED),
    "too few": (lambda d: d, lambda: [needs(), needs(), needs()], {}, REFUSED),
    "None for one that needs it": (lambda d: (d, None), lambda: [needs(), needs()], {}, [1, None]),
    "None alone": (lambda d: None, lambda: [needs()], {}, [None]),
    "a number takes no value": (lambda d: d, lambda: [needs(), 3], {}, [1, None]),
    "a value for a number": (lambda d: (d, None), lambda: [needs(), 3], {}, REFUSED),
    "a list for one tensor": (lambda d: [d], lambda: [needs()], {}, REFUSED),
    "a float": (lambda d: 3.0, lambda: [needs()], {}, REFUSED),
    "an array": (lambda d: d.numpy(), lambda: [needs()], {}, REFUSED),
    "an empty tuple": (lambda d: (), lambda: [needs()], {}, REFUSED),
    "a tuple for a list": (lambda d: ((d, d * 2),), lambda: [[needs(), needs()]], {}, [[1, 2]]),
    "a list for a list": (lambda d: ([d, d * 2],), lambda: [[needs(), needs()]], {}, [[1, 2]]),
    "a bare list for a list": (lambda d: [d, d * 2], lambda: [[needs(), needs()]], {}, [[1, 2]]),
    "a bare tuple for a list": (lambda d: (d, d * 2), lambda: [[needs(), needs()]], {}, REFUSED),
    "None for a list": (lambda d: None, lambda: [[needs(), needs()]], {}, REFUSED),
    "None in a list": (lambda d: ([d, None],), lambda: [[needs(), needs()]], {}, [[1, None]]),
    "a list whose first stops": (lambda d: ([d, d],), lambda: [[data(), needs()]], {}, REFUSED),
    "a list whose first stops, None": (lambda d: None, lambda: [[data(), needs()]], {}, [[None, None]]),
    "a list whose second stops": (lambda d: ([d, d],), lambda: [[needs(), data()]], {}, [[1, None]]),
    "a number in a list": (lambda d: ([d, d],), lambda: [[3, needs(), needs()]], {}, [[None, 1, 1]]),
    "a tensor and a list": (lambda d: (d, [d, d * 3]), lambda: [needs(), [needs(), needs()]], {}, [1, [1, 3]]),
    "a list is missing": (lambda d: (d,), lambda: [needs(), [needs(), needs()]], {}, REFUSED),
    "a list of data is missing": (lambda d: (d,), lambda: [needs(), [data(), data()]], {}, [1, [None, None]]),
    "a list of data, None": (lambda d: (d, None), lambda: [needs(), [data(), data()]], {}, [1, [None, None]]),
    "a list of numbers": (lambda d: d, lambda: [needs(), [1, 2]], {}, [1, [None, None]]),
    "an empty list": (lambda d: d, lambda: [needs(), []], {}, [1, []]),
    "by keyword": (lambda d: (d, d * 2), lambda: [needs()], {"b": needs}, [1, 2]),
    "by keyword, a gradient for data": (lambda d: (d, d), lambda: [needs()], {"b": data}, REFUSED),
    "by keyword, data left out": (lambda d: d, lambda: [needs()], {"b": data}, [1, None]),
    "a list by keyword": (lambda d: (d, (d * 5,)), lambda: [needs()], {"b": lambda: [needs()]}, [1, [5]]),
}


@pytest.mark.parametrize("name", CASES)
def test_backward_returns_as_in_paddle(name: str) -> None:
    backward, args, named, expected = CASES[name]
    assert apply_sum(backward, args(), {key: make() for key, make in named.items()}) == expected


@pytest.mark.parametrize("result", [None, 3, {"k": 1}, [3], []])
@pytest.mark.parametrize("make", [data, needs])
def test_forward_returns_a_tensor(result: Any, make: Any) -> None:
    layer: Any = type("Nothing", (PyLayer,), {"forward": staticmethod(lambda ctx, x: result)})
    with pytest.raises(ValueError, match="without a Tensor"):
        layer.apply(make())


def test_nothing_is_recorded_where_no_tensor_needs_a_gradient() -> None:
    def apply(function: Any) -> Any:
        w = needs()
        layer: Any = type("Data", (PyLayer,), {"forward": staticmethod(lambda ctx, x, held: function(x, held["w"]))})
        return layer.apply(data(), {"w": w}), w

    def enabled(x: Any, w: Any) -> Any:
        with paddle.enable_grad():
            return x * w

    computed, _ = apply(lambda x, w: x * w)
    assert computed.stop_gradient
    same, w = apply(lambda x, w: w)
    assert same is w
    assert not same.stop_gradient
    recorded, _ = apply(enabled)
    assert not recorded.stop_gradient
