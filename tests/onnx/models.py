"""ONNX models for tests, built with ``onnx.helper``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Shape = Sequence[int | str | None] | None


def info(name: str, shape: Shape, kind: int = TensorProto.FLOAT) -> Any:
    """An input or output of a graph."""
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, Shape],
    outputs: Sequence[str],
    values: Mapping[str, Any] | None = None,
    opset: int = 17,
    kinds: Mapping[str, int] | None = None,
    **more: Any,
) -> Any:
    """A model of one graph.

    Args:
        values: its initializers.
        kinds: types of inputs that are not real.
    """
    graph = helper.make_graph(
        list(nodes),
        "g",
        [info(n, s, (kinds or {}).get(n, TensorProto.FLOAT)) for n, s in inputs.items()],
        [info(n, None) for n in outputs],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (values or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9, **more)


def node(kind: str, reads: str, makes: str, name: str = "", doc: str = "", **attributes: Any) -> Any:
    """``node("Add", "a b", "c")``; a ``-`` is an operand that is left out."""
    inputs = ["" if n == "-" else n for n in reads.split()]
    return helper.make_node(kind, inputs, makes.split(), name=name, doc_string=doc, **attributes)


def weights(*shape: int, seed: int = 0) -> Any:
    """Numbers in single precision that are the same everywhere."""
    return (np.random.default_rng(seed).standard_normal(shape) * 0.3).astype("float32")


def mlp(batch: Any = "n") -> Any:
    """Two layers; the batch is of any size."""
    return model(
        [
            node("Gemm", "x w0 b0", "h", name="/first/Gemm", transB=1),
            node("Relu", "h", "a", name="/first/Relu"),
            node("MatMul", "a w1", "m", name="/second/MatMul"),
            node("Add", "m b1", "scores", name="/second/Add"),
        ],
        {"x": [batch, 4]},
        ["scores"],
        {"w0": weights(5, 4), "b0": weights(5, seed=1), "w1": weights(5, 3, seed=2), "b1": weights(3, seed=3)},
    )


def saved(content: Any, folder: Path, name: str = "model.onnx") -> str:
    """Write a model, and give its path."""
    path = folder / name
    onnx.save(content, str(path))
    return str(path)
