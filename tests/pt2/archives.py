"""PT2 archives for tests, written without torch: a graph of nodes, and the tensors that it takes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

KINDS = {"float32": 7, "float64": 8, "int64": 5, "bool": 12}
MARK = "@"
"""Before the name of a tensor, where an argument is one."""


def meta(shape: Sequence[int | None], kind: str = "float32", trains: bool = False) -> dict[str, Any]:
    """What an archive says of a tensor; sizes that are None are not known."""
    steps = [int(np.prod([d or 1 for d in shape[i + 1 :]])) for i in range(len(shape))]
    unknown = {"as_expr": {"expr_str": "Symbol('s0')", "hint": {"as_int": 2}}}
    return {
        "dtype": KINDS[kind],
        "sizes": [unknown if d is None else {"as_int": d} for d in shape],
        "requires_grad": trains,
        "device": {"type": "cpu", "index": None},
        "strides": [{"as_int": s} for s in steps],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def argument(value: Any) -> dict[str, Any]:
    """An argument of a node: ``"@x"`` is the tensor x."""
    if isinstance(value, str) and value.startswith(MARK):
        return {"as_tensor": {"name": value[1:]}}
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return {"as_tensors": [{"name": v[1:]} for v in value]}
    kinds = {bool: "as_bool", int: "as_int", float: "as_float", str: "as_string", list: "as_ints"}
    return {"as_none": True} if value is None else {kinds[type(value)]: value}


def node(target: str, makes: str, layer: str = "", stack: str = "", **arguments: Any) -> dict[str, Any]:
    """``node("aten.add.Tensor", "c", self="@a", other="@b")``."""
    layers = "L__self__,,net.Net" + (f";L__self__{layer},{layer},torch.nn.Linear" if layer else "")
    return {
        "target": f"torch.ops.{target}",
        "inputs": [{"name": n, "arg": argument(v), "kind": 1} for n, v in arguments.items()],
        "outputs": [{"as_tensor": {"name": n}} for n in makes.split()],
        "metadata": {"stack_trace": stack, "nn_module_stack": layers},
        "is_hop_single_tensor_return": None,
        "name": makes,
    }


def program(
    nodes: Sequence[Mapping[str, Any]],
    tensors: Mapping[str, Mapping[str, Any]],
    fed: Sequence[str],
    outputs: Sequence[str],
    parameters: Mapping[str, str] | None = None,
    buffers: Mapping[str, str] | None = None,
    changes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON of an exported program.

    Args:
        tensors: what is said of every tensor.
        parameters, buffers: names in the graph -> names in the module.
        changes: names of what is assigned -> of buffers.
    """
    kept = {"parameter": parameters or {}, "buffer": buffers or {}}
    specs: list[dict[str, Any]] = []
    for kind, names in kept.items():
        for name, own in names.items():
            more = {"persistent": True} if kind == "buffer" else {}
            specs.append({kind: {"arg": {"name": name}, f"{kind}_name": own, **more}})
    specs += [{"user_input": {"arg": argument(MARK + n)}} for n in fed]
    ends = [{"buffer_mutation": {"arg": {"name": n}, "buffer_name": b}} for n, b in (changes or {}).items()]
    return {
        "graph_module": {
            "graph": {
                "inputs": [],
                "outputs": [],
                "nodes": list(nodes),
                "tensor_values": dict(tensors),
                "sym_int_values": {},
                "sym_bool_values": {},
            },
            "signature": {
                "input_specs": specs,
                "output_specs": [*ends, *({"user_output": {"arg": argument(MARK + n)}} for n in outputs)],
            },
            "module_call_graph": [],
        },
        "opset_version": {"aten": 10},
        "range_constraints": {},
        "schema_version": {"major": 8, "minor": 20},
    }


def archive(content: Any, values: Mapping[str, Any], method: int = zipfile.ZIP_STORED) -> bytes:
    """The bytes of an archive; *values* are arrays by the names that they have in the module."""
    listed = {
        name: {
            "path_name": f"weight_{i}",
            "is_param": True,
            "use_pickle": False,
            "tensor_meta": meta(array.shape, array.dtype.name),
        }
        for i, (name, array) in enumerate(values.items())
    }
    files = {f"data/weights/weight_{i}": array.tobytes() for i, array in enumerate(values.values())}
    files["data/weights/model_weights_config.json"] = json.dumps({"config": listed}).encode()
    files["models/model.json"] = json.dumps(content).encode()
    return zipped({**files, "archive_format": b"pt2", "byteorder": b"little"}, method)


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Files in one folder of a zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as whole:
        for name, data in files.items():
            whole.writestr(zipfile.ZipInfo(f"net/{name}"), data, method)
    return file.getvalue()


STACK = """File "/home/me/net.py", line 12, in forward
    h = torch.relu(self.first(x))
File "/usr/lib/python3/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)"""


def mlp_program() -> dict[str, Any]:
    """Two layers over a batch of any size."""
    return program(
        [
            node("aten.linear.default", "linear", "first", STACK, input="@x", weight="@p_w0", bias="@p_b0"),
            node("aten.relu_.default", "relu_", "", STACK.split("\nFile")[0], self="@linear"),
            node("aten.linear.default", "scores", "blocks.1", input="@relu_", weight="@p_w1", bias=None),
        ],
        {
            "x": meta([None, 4]),
            "p_w0": meta([5, 4], trains=True),
            "p_b0": meta([5], trains=True),
            "p_w1": meta([3, 5], trains=True),
            "linear": meta([None, 5]),
            "relu_": meta([None, 5]),
            "scores": meta([None, 3]),
        },
        ["x"],
        ["scores"],
        {"p_w0": "first.weight", "p_b0": "first.bias", "p_w1": "blocks.1.weight"},
    )


def weights(*shape: int, seed: int = 0) -> Any:
    """Numbers in single precision that are the same everywhere."""
    return (np.random.default_rng(seed).standard_normal(shape) * 0.3).astype("float32")


def mlp_values() -> dict[str, Any]:
    """Its weights."""
    return {"first.weight": weights(5, 4), "first.bias": weights(5, seed=1), "blocks.1.weight": weights(3, 5, seed=2)}


def mlp() -> bytes:
    """Its archive."""
    return archive(mlp_program(), mlp_values())
