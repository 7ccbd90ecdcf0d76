"""The networks of ``paddle.vision.models``: keys, shapes and names of their parameters, what they give, and gradients.

Run with an interpreter that has Paddle 3.3.1, from the top of the repository::

    PADDLE/bin/python tests/paddle/vision/models/record_models.py

``python -m tests.paddle.vision.models.compare_models`` compares all of it with gradtool; the tests compare what is
cheap.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).with_name("models.json")

PLAIN = [
    "LeNet()",
    "alexnet()",
    "vgg11()",
    "vgg13(batch_norm=True)",
    "vgg16()",
    "vgg19()",
    "resnet18()",
    "resnet34()",
    "resnet50()",
    "resnet101()",
    "resnet152()",
    "resnext50_32x4d()",
    "resnext50_64x4d()",
    "resnext101_32x4d()",
    "resnext101_64x4d()",
    "resnext152_32x4d()",
    "resnext152_64x4d()",
    "wide_resnet50_2()",
    "wide_resnet101_2()",
    "densenet121()",
    "densenet161()",
    "densenet169()",
    "densenet201()",
    "densenet264()",
    "googlenet()",
    "inception_v3()",
    "mobilenet_v1()",
    "mobilenet_v1(scale=0.5)",
    "mobilenet_v2()",
    "mobilenet_v2(scale=0.35)",
    "mobilenet_v2(scale=1.4)",
    "mobilenet_v3_small()",
    "mobilenet_v3_small(scale=0.5)",
    "mobilenet_v3_large()",
    "mobilenet_v3_large(scale=1.25)",
    "mobilenet_v3_large(scale=0.35)",
    "shufflenet_v2_x0_25()",
    "shufflenet_v2_x0_33()",
    "shufflenet_v2_x0_5()",
    "shufflenet_v2_x1_0()",
    "shufflenet_v2_x1_5()",
    "shufflenet_v2_x2_0()",
    "shufflenet_v2_swish()",
    "squeezenet1_0()",
    "squeezenet1_1()",
    *(
        f"{name}(num_classes=0, with_pool=False)"
        for name in (
            *("vgg11", "resnet18", "densenet121", "googlenet", "inception_v3", "mobilenet_v1", "mobilenet_v2"),
            *("mobilenet_v3_small", "shufflenet_v2_x0_25", "squeezenet1_0"),
        )
    ),
]
"""What is built, for the parameters."""

COMPUTED: dict[str, int] = {
    "LeNet()": 28,
    "LeNet(num_classes=0)": 28,
    "alexnet(num_classes=0)": 64,
    "vgg11(num_classes=0)": 32,
    "vgg13(batch_norm=True, num_classes=0, with_pool=False)": 32,
    "resnet18(num_classes=10)": 32,
    "resnet50(num_classes=10)": 32,
    "resnet18(num_classes=0, with_pool=False)": 64,
    "resnext50_32x4d(num_classes=10)": 32,
    "wide_resnet50_2(num_classes=0)": 32,
    "densenet121(num_classes=10)": 32,
    "googlenet(num_classes=10)": 224,
    "googlenet(num_classes=0, with_pool=False)": 64,
    "inception_v3(num_classes=10)": 80,
    "mobilenet_v1(scale=0.25, num_classes=10)": 32,
    "mobilenet_v2(scale=0.35, num_classes=10)": 32,
    "mobilenet_v3_small(num_classes=10)": 32,
    "mobilenet_v3_large(num_classes=0)": 32,
    "shufflenet_v2_x0_25(num_classes=10)": 32,
    "shufflenet_v2_swish(num_classes=10)": 32,
    "squeezenet1_0(num_classes=10)": 64,
    "squeezenet1_1(num_classes=0)": 32,
    "squeezenet1_1(num_classes=10, with_pool=False)": 32,
}
"""What is computed, with the size of the images."""


def built(paddle: Any, expression: str) -> Any:
    """The network, its parameters named as those of the first in a program."""
    with paddle.utils.unique_name.guard():
        return eval(f"models.{expression}", {"models": paddle.vision.models})


def parameters(paddle: Any, expression: str) -> list[Any]:
    """Key, shape and name of each entry of the state."""
    with paddle.LazyGuard():
        net = built(paddle, expression)
    return [[key, [int(n) for n in value.shape], value.name] for key, value in net.state_dict().items()]


def digest(rows: list[Any]) -> str:
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def seeded(key: str, shape: list[int]) -> Any:
    """The value of that entry: drawn by its key, of a size with which signals neither die nor grow."""
    draws = np.random.RandomState(zlib.crc32(key.encode()))
    if key.endswith("_variance") or (key.endswith("weight") and len(shape) == 1):
        return draws.uniform(0.5, 1.5, shape)
    if len(shape) == 1:
        return draws.uniform(-0.1, 0.1, shape)
    inputs = shape[0] if len(shape) == 2 else np.prod(shape[1:])
    return draws.standard_normal(shape) * np.sqrt(2 / inputs)


def projected(value: Any) -> float:
    """A number in which every element counts with a weight of its own."""
    flat = np.asarray(value, "float64").reshape(-1)
    return float(flat @ np.cos(np.arange(flat.size)))


def computed(paddle: Any, expression: str) -> tuple[list[Any], dict[str, Any]]:
    """What the network gives in testing, and the gradients, in float64: outputs, and gradients by key."""
    net = built(paddle, expression)
    net.to(dtype="float64")
    state = net.state_dict()
    for key, value in state.items():
        value.set_value(seeded(key, [int(n) for n in value.shape]))
    net.eval()
    size = COMPUTED[expression]
    channels = 1 if expression.startswith("LeNet") else 3
    x = np.random.RandomState(7).standard_normal([2, channels, size, size])
    out = net(paddle.to_tensor(x))
    outputs = out if isinstance(out, (list, tuple)) else [out]
    loss = sum((o.flatten() * paddle.to_tensor(np.cos(np.arange(o.size)))).sum() for o in outputs)
    loss.backward()
    gradients = {key: value.grad.numpy() for key, value in state.items() if value.grad is not None}
    return [o.numpy() for o in outputs], gradients


def record(paddle: Any) -> dict[str, Any]:
    keys = {}
    for expression in PLAIN:
        rows = parameters(paddle, expression)
        keys[expression] = [len(rows), digest(rows)]
    values = {}
    for expression in COMPUTED:
        print(expression, flush=True)
        outputs, gradients = computed(paddle, expression)
        values[expression] = {
            "outputs": [[list(o.shape), projected(o)] for o in outputs],
            "gradients": [float(f"{projected(g):.9g}") for g in gradients.values()],
            "without": digest([key for key in built(paddle, expression).state_dict() if key not in gradients]),
        }
    return {"keys": keys, "values": values}


if __name__ == "__main__":
    import paddle

    OUT.write_text(json.dumps(record(paddle), indent=None, separators=(",", ":")).replace('},"', '},\n"') + "\n")
