"""What layers of Paddle can be asked for: the attributes of one of every class, and those of its values that are plain.

Run with an interpreter that has Paddle 3.3.1, from the top of the repository::

    PADDLE/bin/python tests/paddle/nn/record_attributes.py
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

OUT = Path(__file__).with_name("attributes.json")
ARGUMENTS = Path(__file__).with_name("arguments.json")

HOLDERS = ("_parameters", "_sub_layers", "_buffers")
CASES: dict[str, tuple[Any, ...]] = {
    **{f"AdaptiveAvgPool{n}D": (2,) for n in (1, 2, 3)},
    **{f"AdaptiveMaxPool{n}D": (2,) for n in (1, 2, 3)},
    **{f"{kind}Pool{n}D": (2,) for n in (1, 2, 3) for kind in ("Avg", "Max", "MaxUn")},
    **{f"BatchNorm{n}": (4,) for n in ("", "1D", "2D", "3D")},
    **{f"InstanceNorm{n}D": (4,) for n in (1, 2, 3)},
    **{f"Conv{n}D{t}": (4, 6, 3) for n in (1, 2, 3) for t in ("", "Transpose")},
    **{f"{kind}Pad{n}D": (1,) for n in (1, 2, 3) for kind in ("", "Zero", "Circular", "Reflection", "Replication")},
    **{f"ConstantPad{n}D": (1, 2.0) for n in (1, 2, 3)},
    **{f"LPPool{n}D": (2.0, 2) for n in (1, 2)},
    **{f"FractionalMaxPool{n}D": (2,) for n in (2, 3)},
    "AdaptiveLogSoftmaxWithLoss": (8, 6, [2, 4]),
    "Bilinear": (2, 3, 4),
    "ChannelShuffle": (2,),
    "Embedding": (5, 4),
    "Fold": ([4, 4], 2),
    "GRU": (3, 4),
    "GRUCell": (3, 4),
    "GroupNorm": (2, 4),
    "HSigmoidLoss": (4, 6),
    "LSTM": (3, 4),
    "LSTMCell": (3, 4),
    "LayerNorm": (4,),
    "Linear": (3, 4),
    "LocalResponseNorm": (3,),
    "Maxout": (2,),
    "MultiHeadAttention": (4, 2),
    "PixelShuffle": (2,),
    "PixelUnshuffle": (2,),
    "RMSNorm": (4,),
    "SimpleRNN": (3, 4),
    "SimpleRNNCell": (3, 4),
    "SpectralNorm": ([4, 3],),
    "SyncBatchNorm": (4,),
    "Transformer": (4, 2, 1, 1, 8),
    "TransformerDecoderLayer": (4, 2, 8),
    "TransformerEncoderLayer": (4, 2, 8),
    "Unflatten": (1, [2, 2]),
    "Unfold": (2,),
}
"""Class -> what it is called with; the others are called with nothing, or hold layers (see :func:`built`)."""


def built(nn: Any, name: str) -> Any:
    """One layer of that class."""
    cell = nn.SimpleRNNCell(3, 4)
    made = {
        "BiRNN": lambda: nn.BiRNN(cell, nn.SimpleRNNCell(3, 4)),
        "RNN": lambda: nn.RNN(cell),
        "BeamSearchDecoder": lambda: nn.BeamSearchDecoder(cell, 0, 1, 2),
        "TransformerEncoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1),
        "TransformerDecoder": lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 1),
    }
    return made[name]() if name in made else getattr(nn, name)(*CASES.get(name, ()))


def plain(value: Any) -> Any:
    """A number, a text, or a list of those, as JSON has it; otherwise the name of its class in brackets."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return f"<{type(value).__name__}>"


def attributes(paddle: Any) -> dict[str, dict[str, Any]]:
    """Class -> attribute -> value, of what one of its objects holds beyond what every layer does."""
    nn = paddle.nn
    common = vars(nn.Layer()).keys()
    table = {}
    for name in sorted(dir(nn)):
        kind = getattr(nn, name)
        if not isinstance(kind, type) or kind is nn.Layer or name.startswith("_"):
            continue
        if not issubclass(kind, (nn.Layer, nn.BeamSearchDecoder)) or kind.__name__ != name:
            continue
        layer = built(nn, name)
        held = {n: v for n, v in vars(layer).items() if n not in common}
        for holder in HOLDERS:
            held |= dict.fromkeys(vars(layer).get(holder, ()), holder)
        base = nn.Layer if isinstance(layer, nn.Layer) else object
        held |= {n: "<member>" for n in dir(kind) if n not in dir(base) and n not in held}
        table[name] = {n: plain(held[n]) for n in sorted(held) if not n.startswith("__")}
    table["Layer"] = {n: plain(v) for n, v in sorted(vars(nn.Layer()).items())}
    table["Layer"] |= {n: "<member>" for n in dir(nn.Layer) if n not in dir(object) and n not in table["Layer"]}
    return table


def second_names(function: Any) -> dict[str, str]:
    """Further names that a decorated function of Paddle takes arguments by, each with its own."""
    table: dict[str, str] = {}
    while function is not None:
        for cell in function.__closure__ or ():
            held = cell.cell_contents
            if isinstance(held, list) and len(held) == 2 and all(isinstance(n, str) for n in held):
                table[held[1]] = held[0]
            table |= getattr(held, "alias_mapping", {})
        function = getattr(function, "__wrapped__", None)
    return table


def arguments(paddle: Any) -> dict[str, list[Any]]:
    """Class -> the arguments of calls, further names of them, and further names of what the class is made with."""
    nn = paddle.nn
    table = {}
    for name in sorted(dir(nn)):
        kind = getattr(nn, name)
        if not isinstance(kind, type) or not issubclass(kind, nn.Layer) or kind.__name__ != name:
            continue
        if kind.forward is not nn.Layer.forward:
            names = [*inspect.signature(kind.forward).parameters][1:]
            table[name] = [names, second_names(kind.forward), second_names(kind.__init__)]
    return table


def written(path: Path, table: dict[str, Any]) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in table.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    import paddle

    written(OUT, attributes(paddle))
    written(ARGUMENTS, arguments(paddle))


if __name__ == "__main__":
    main()
