"""Every way in which PyTorch makes a leaf, generated from its API: ``python -m tests.torch.leaves [NAME …]``.

Each way is a script. It runs in plain torch, which says what the gradients are, and under the recorder: the same leaves
have to be there, with the same gradients bit for bit, and none of them may be reported as cut off.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import torch
import torch.nn.utils.prune
from gradtool.engine.loading.opening import open_model
from gradtool.engine.questions.backward import Backward
from gradtool.engine.request.request import Request

_VALUES = {
    "size": "(2, 3)",
    "fill_value": "0.5",
    "s": "0.5",
    "self": "torch.ones(2, 3)",
    "input": "torch.ones(2, 3)",
    "physical_layout": "(0, 1)",
    "stride": "(3, 1)",
    "low": "0",
    "high": "5",
    "start": "1.0",
    "end": "4.0",
    "steps": "3",
    "n": "3",
    "m": "2",
    "periodic": "False",
    "alpha": "0.5",
    "beta": "0.5",
    "window_length": "6",
    "M": "6",
    "a": "[0.5, 0.25]",
    "mean": "0.0",
    "std": "1.0",
    "shape": "(2, 3)",
    "device": "'cpu'",
    "data": "[0.5, -1.0, 2.0]",
    "obj": "[0.5, -1.0, 2.0]",
    "tensor_list": "[torch.ones(2), torch.ones(3)]",
    "mask": "torch.tensor([True, False, True])",
    "buffer": "bytearray(24)",
    "filename": "FILE",
    "dtype": "torch.float32",
    "indices": "torch.tensor([[0, 1], [1, 0]])",
    "values": "torch.tensor([1.0, 2.0])",
    **dict.fromkeys(("crow_indices", "ccol_indices", "compressed_indices"), "torch.tensor([0, 1, 2])"),
    **dict.fromkeys(("col_indices", "row_indices", "plain_indices"), "torch.tensor([0, 1])"),
}
"""By the name of a parameter, what is given for it."""

_OF = {
    "randint": {"dtype": "torch.float32"},
    "randint_like": {"dtype": "torch.float32"},
    "randperm": {"dtype": "torch.float32"},
    "normal": {"mean": "0.0", "std": "1.0"},
    "sparse_compressed_tensor": {"layout": "torch.sparse_csr"},
    "scalar_tensor": {"s": "0.5"},
    "fftfreq": {"n": "6"},
    "rfftfreq": {"n": "6"},
    "make_tensor": {"dtype": "torch.float32", "device": "'cpu'"},
    "empty_strided": {"size": "(2, 3)"},
    "masked_tensor": {"data": "torch.tensor([0.5, 1.0, 2.0])"},
    "kaiser": {"beta": "12.0"},
}
"""By the name of a factory, what else is given."""

WITHOUT = {
    "masked_tensor": "its operators refuse the backward pass of tanh",
    "tril_indices": "whole numbers alone",
    "triu_indices": "whole numbers alone",
    "from_file": "reads a file",
    **dict.fromkeys(
        ("sparse_csc_tensor", "sparse_bsr_tensor", "sparse_bsc_tensor"),
        "torch cannot accumulate gradients of this layout",
    ),
    "empty_quantized": "quantized numbers have no gradient",
    "rebuild_cuda_tensor": "needs a device",
    "rebuild_meta_tensor": "gives a tensor without values",
    "UninitializedParameter": "has no values; the Lazy modules use it",
    "UninitializedBuffer": "has no values; the Lazy modules use it",
    "FakeTensor": "has no values",
    "TensorMetadata": "is no tensor",
    "MaskedTensor": "made by masked_tensor",
    "gradcheck": "makes no tensor",
    "gradgradcheck": "makes no tensor",
    **dict.fromkeys(
        (
            "SparseSemiStructuredTensor",
            "SparseSemiStructuredTensorCUSPARSELT",
            "SparseSemiStructuredTensorCUTLASS",
        ),
        "needs a device",
    ),
}
"""What takes ``requires_grad`` and makes no leaf on a CPU, with the reason."""


def _schemas() -> Iterator[tuple[str, str, list[str]]]:
    """Give owner, name and required parameters of each operator that makes a tensor and has a public name."""
    seen = set()
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        options = {a.name for a in schema.arguments}
        if schema.name == name or name.startswith("_") or "pin_memory" not in options or name == "to":
            continue
        wanted = [a.name for a in schema.arguments if not a.has_default_value() and not str(a.type).startswith("Opt")]
        owners = [("torch.", torch), ("torch.ones(2, 3).", torch.Tensor)]
        key = name, tuple(wanted)
        if "out" in options or "names" in options or "generator" in options or key in seen:
            continue
        seen.add(key)
        for shown, owner in owners:
            if hasattr(owner, name):
                yield shown, name, wanted[1:] if owner is torch.Tensor else wanted


def _functions() -> Iterator[tuple[str, str, list[str]]]:
    """Give the same of each public function or class that takes ``requires_grad``."""
    seen: set[int] = set()
    todo: list[types.ModuleType] = [torch]
    met = {torch}
    while todo:
        module = todo.pop(0)
        for name, value in sorted(vars(module).items()):
            if name.startswith("_"):
                continue
            if inspect.ismodule(value) and value.__name__.startswith("torch.") and value not in met:
                met.add(value)
                todo.append(value)
            elif callable(value) and id(value) not in seen and _takes(value):
                seen.add(id(value))
                yield f"{module.__name__}.", name, _required(value)
    for name, value in sorted(vars(torch._C.TensorBase).items()):
        if "requires_grad (bool" in str(value.__doc__) and name.startswith("new_"):
            yield "torch.ones(2, 3).", name, ["data"] if name == "new_tensor" else []


def _takes(value: Any) -> bool:
    try:
        return "requires_grad" in inspect.signature(value).parameters
    except (ValueError, TypeError):
        return "requires_grad (bool" in str(value.__doc__)


def _required(value: Any) -> list[str]:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (ValueError, TypeError):
        return {"tensor": ["data"], "asarray": ["obj"], "frombuffer": ["buffer", "dtype"]}.get(value.__name__, [])
    positional = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind in positional]


def _call(owner: str, name: str, wanted: list[str], requires: bool) -> str:
    named = {n: _VALUES[n] for n in wanted} | _OF.get(name, {})
    given = [named.pop(n) for n in wanted if n not in ("dtype", "device")]
    given += [f"{n}={v}" for n, v in named.items()]
    given += ["requires_grad=True"] if requires else []
    return f"{owner}{name}({', '.join(given)})"


def factories() -> dict[str, str]:
    """Return the calls of all that makes tensors and takes ``requires_grad``, by what they are called."""
    calls: dict[str, str] = {}
    named = set()
    for owner, name, wanted in _schemas():
        if name not in WITHOUT:
            named.add(name)
            calls[f"{name}({', '.join(wanted)})"] = _call(owner, name, wanted, True)
    for owner, name, wanted in _functions():
        if name not in WITHOUT and name not in named and owner != "torch.signal.windows.":  # these give results
            calls[f"{owner}{name}"] = _call(owner, name, wanted, True)
    return calls


MADE = {
    "as_tensor": "torch.as_tensor([0.5, 2.0])",
    "from_numpy": "torch.from_numpy(np.array([0.5, 2.0]))",
    "from_numpy_32": "torch.from_numpy(np.array([0.5, 2.0], np.float32))",
    "as_tensor_numpy": "torch.as_tensor(np.array([0.5, 2.0]))",
    "asarray_numpy": "torch.asarray(np.array([0.5, 2.0]))",
    "tensor_numpy": "torch.tensor(np.array([0.5, 2.0]))",
    "tensor_scalar": "torch.tensor(2.0)",
    "tensor_complex": "torch.tensor([1 + 2j])",
    "complex": "torch.complex(torch.ones(2), torch.ones(2))",
    "polar": "torch.polar(torch.ones(2), torch.ones(2))",
    "from_dlpack": "torch.from_dlpack(np.array([0.5, 2.0], np.float32))",
    "from_dlpack_torch": "torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(3)))",
    "Tensor": "torch.Tensor([0.5, 2.0])",
    **{
        f"{kind}Tensor": f"torch.{kind}Tensor([0.5, 2.0])"
        for kind in ("Float", "Double", "Half", "BFloat16")
        if hasattr(torch, f"{kind}Tensor")
    },
    "new": "torch.ones(2).new([0.5, 2.0])",
    "to_sparse": "torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse()",
    "loaded": "saved(torch.ones(3))",
    "pickled": "pickle.loads(pickle.dumps(torch.ones(3)))",
    "arithmetic": "(torch.ones(3) * 0.1)",
    "slice": "torch.ones(3, 2)[1:]",
    "transposed": "torch.ones(3, 2).t()",
    "expanded": "torch.ones(1).expand(3).clone()",
    "cast": "torch.ones(3).double()",
    "one_hot": "torch.nn.functional.one_hot(torch.tensor([0, 2])).float()",
    "stacked": "torch.stack([torch.ones(2), torch.zeros(2)])",
    "cat": "torch.cat([torch.ones(2), torch.zeros(2)])",
    "initialised": "torch.nn.init.normal_(torch.empty(2, 3))",
    "uniform_": "torch.empty(2).uniform_()",
    "distribution": "torch.distributions.Normal(0.0, 1.0).sample((2,))",
    "meshgrid": "torch.meshgrid(torch.ones(2), torch.ones(3), indexing='ij')[0].contiguous()",
    "deepcopy_plain": "copy.deepcopy(torch.ones(3))",
    "no_grad": "no_grad(lambda: torch.ones(3, requires_grad=True) * 2)",
    "dataset": "next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 2)), 2)))[0]",
    "subclass": "torch.ones(3).as_subclass(Own)",
}
"""Ways to a tensor that is no leaf yet."""

TURNED = {
    "requires_grad_": "{}.requires_grad_()",
    "attribute": "setting({})",
    "detach": "{}.detach().requires_grad_()",
    "clone": "{}.clone().detach().requires_grad_(True)",
    "Parameter": "torch.nn.Parameter({})",
    "data": "{}.data.requires_grad_()",
    "copied": "copy.deepcopy({}.requires_grad_())",
}
"""Ways to make a leaf of it."""

_HEAD = """\
import copy
import io
import pickle

import numpy as np
import torch
import torch.nn.utils.prune

torch.manual_seed(0)
batch = torch.ones(1, 3)


class Own(torch.Tensor):
    def __deepcopy__(self, memo):
        return self.detach().clone().requires_grad_(self.requires_grad)


def saved(t):
    file = io.BytesIO()
    torch.save(t, file)
    file.seek(0)
    return torch.load(file)


def setting(t):
    t.requires_grad = True
    return t


def no_grad(make):
    with torch.no_grad():
        return make()


def number(t):
    if t.layout is not torch.strided:
        t = t.to_dense()
    if t.is_nested:
        t = torch.cat([e.reshape(-1) for e in t.unbind()])
    if t.is_complex():
        t = torch.view_as_real(t)
    return (t.float() * 3).tanh().sum()


"""

_FILL = "with torch.no_grad():\n    x.fill_(0.5) if x.layout is torch.strided else x\n"
"""What makes values of memory that nothing has written."""

_LOADED = "net = torch.nn.Linear(3, 2)\nstate = {'weight': torch.ones(2, 3), 'bias': torch.zeros(2)}\n"

HELD: dict[str, str] = {
    "ParameterList": "net = torch.nn.ParameterList([torch.ones(2)] * 2)\nloss = number(net[0] + net[1] * 2)",
    "ParameterDict": "net = torch.nn.ParameterDict({'a': torch.ones(2)})\nloss = number(net['a'])",
    "setattr": "net = torch.nn.Module()\nnet.w = torch.nn.Parameter(torch.ones(2))\nloss = number(net.w)",
    "register_parameter": (
        "net = torch.nn.Module()\nnet.register_parameter('w', torch.nn.Parameter(torch.ones(2)))\nloss = number(net.w)"
    ),
    "Buffer": "net = torch.nn.Module()\nnet.b = torch.nn.Buffer(torch.ones(2)).requires_grad_()\nloss = number(net.b)",
    "load_state_dict": _LOADED + "net.load_state_dict(state)\nloss = number(net(batch))",
    "load_state_dict_assign": _LOADED
    + "net.load_state_dict(state, assign=True)\nnet.requires_grad_()\nloss = number(net(batch))",
    "swap_tensors": (
        "x, y = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)\n"
        "(y * 2).sum().item()\ntorch.utils.swap_tensors(x, y)\nloss = number(x) + 2 * number(y)"
    ),
    "data_assigned": "net = torch.nn.Linear(3, 2)\nnet.weight.data = torch.ones(2, 3)\nloss = number(net(batch))",
    "data_assigned_used": (
        "net = torch.nn.Linear(3, 2)\nnet(batch)\nnet.weight.data = net.weight.data * 0.5\nloss = number(net(batch))"
    ),
    "set_": (
        "x = torch.ones(2, requires_grad=True)\nnumber(x)\nwith torch.no_grad():\n    x.set_(torch.full((3,), 0.5))\n"
        "loss = number(x)"
    ),
    "double": "net = torch.nn.Linear(3, 2)\nnet(batch)\nnet.double()\nloss = number(net(batch.double()))",
    "default_dtype": (
        "torch.set_default_dtype(torch.float64)\nnet = torch.nn.Linear(3, 2)\nx = torch.ones(3, requires_grad=True)\n"
        "loss = number(net(x))\ntorch.set_default_dtype(torch.float32)"
    ),
    "deepcopy": "first = torch.nn.Linear(3, 2)\nnet = copy.deepcopy(first)\nloss = number(net(batch))",
    "pickled": "net = pickle.loads(pickle.dumps(torch.nn.Linear(3, 2)))\nloss = number(net(batch))",
    "saved": (
        "file = io.BytesIO()\ntorch.save(torch.nn.Linear(3, 2), file)\nfile.seek(0)\n"
        "net = torch.load(file, weights_only=False)\nloss = number(net(batch))"
    ),
    "functional_call": (
        "net = torch.nn.Linear(3, 2)\nw = torch.ones(2, 3, requires_grad=True)\n"
        "loss = number(torch.func.functional_call(net, {'weight': w}, (batch,)))"
    ),
    "vector_to_parameters": (
        "net = torch.nn.Linear(3, 2)\nnumber(net(batch))\n"
        "torch.nn.utils.vector_to_parameters(torch.arange(8.0) / 8, net.parameters())\n"
        "loss = number(net(batch))"
    ),
    "written_by_hand": (
        "x = torch.ones(2, requires_grad=True)\nnumber(x).backward()\nwith torch.no_grad():\n    x -= 0.1 * x.grad\n"
        "x.grad = None\nloss = number(x)"
    ),
    "made_again": (
        "x = torch.ones(2, requires_grad=True)\nnumber(x).backward()\n"
        "x = (x - 0.1 * x.grad).detach().requires_grad_()\nloss = number(x)"
    ),
    "frozen_and_thawed": (
        "net = torch.nn.Linear(3, 2)\nnet.requires_grad_(False)\nnumber(net(batch))\n"
        "net.requires_grad_(True)\nloss = number(net(batch))"
    ),
    "to_empty": (
        "net = torch.nn.Linear(3, 2, device='meta').to_empty(device='cpu')\n"
        "for p in net.parameters():\n    torch.nn.init.constant_(p, 0.1)\nloss = number(net(batch))"
    ),
    "share_memory": "net = torch.nn.Linear(3, 2).share_memory()\nloss = number(net(batch))",
    "tied": (
        "net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))\nnet[1].weight = net[0].weight\n"
        "loss = number(net(batch))"
    ),
}
"""Ways in which modules hold leaves, and in which leaves change."""


def _modules() -> Iterator[tuple[str, str]]:
    """Give the modules whose parameters come with the first batch, and what makes parameters of others."""
    inputs = {"Conv1d": (1, 2, 5), "Conv2d": (1, 2, 5, 5), "Conv3d": (1, 2, 5, 5, 5)}
    for name in sorted(n for n in vars(torch.nn) if n.startswith("Lazy")):
        plain = name.removeprefix("Lazy").replace("Transpose", "")
        shape: tuple[int, ...] = (4, 3)
        if "Conv" in name:
            shape, made = inputs[plain], f"torch.nn.{name}(3, 2)"
        elif "Norm" in name:
            shape, made = (2, 3, 5, 5, 5)[: 2 + int(name[-2])], f"torch.nn.{name}()"
            made = made.replace("()", "(affine=True)")
        else:
            made = f"torch.nn.{name}(2)"
        yield name, f"net = {made}\nloss = number(net(torch.randn{shape}))"
    for module in (torch.nn.utils.parametrizations, torch.nn.utils):
        for name in sorted(n for n in vars(module) if n.endswith(("_norm", "orthogonal"))):
            if not name.startswith(("_", "clip", "get", "remove")):
                made = f"net = {module.__name__}.{name}(torch.nn.Linear(3, 3))"
                yield f"{module.__name__}.{name}", f"{made}\nloss = number(net(torch.ones(2, 3)))"
    for name in ("l1_unstructured", "random_unstructured", "identity"):
        amount = "" if name == "identity" else ", 0.5"
        made = f"net = torch.nn.Linear(3, 3)\ntorch.nn.utils.prune.{name}(net, 'weight'{amount})"
        yield f"prune.{name}", f"{made}\nloss = number(net(torch.ones(2, 3)))"


def scripts() -> dict[str, str]:
    """Return the text of every script by its name."""
    bodies = {name: f"x = {call}\n{_FILL}loss = number(x)" for name, call in factories().items()}
    for name, made in MADE.items():
        for how, turned in TURNED.items():
            bodies[f"{name}.{how}"] = f"x = {turned.format(made)}\nloss = number(x)"
    bodies |= {f"nn.{name}": body for name, body in (*HELD.items(), *_modules())}
    return {name: f"{_HEAD}{body}\nloss.backward()\n" for name, body in bodies.items()}


Gradients = Mapping[str, tuple[bytes, bytes]]
"""By the name of a leaf the bytes of its gradient and of its values."""


def in_torch(text: str) -> Gradients:
    """Return the bytes of the gradients of the leaves that a script has names for, as plain torch computes them."""
    namespace: dict[str, Any] = {"__name__": "leaves"}
    holder = types.ModuleType("leaves")
    sys.modules["leaves"] = holder
    namespace = vars(holder)
    exec(compile(text, "leaves.py", "exec"), namespace)
    leaves: dict[str, Any] = {}
    for name in ("x", "y", "w", "net"):
        value = namespace.get(name)
        if isinstance(value, torch.nn.Module):
            leaves.update((f"{name}.{path}", p) for path, p in value.named_parameters())
            leaves.update((f"{name}.{path}", p) for path, p in value.named_buffers() if p.requires_grad)
        elif isinstance(value, torch.Tensor):
            leaves[name] = value
    with_one = {name: t for name, t in leaves.items() if t.is_leaf and t.grad is not None}
    return {name: (_bytes(_plain(t.grad)), _bytes(_plain(t))) for name, t in with_one.items()}


def _plain(t: Any) -> Any:
    t = t.detach()
    if t.layout is not torch.strided:
        t = t.to_dense()
    if t.is_nested:
        t = torch.cat([e.reshape(-1) for e in t.unbind()])
    return t.float().numpy() if t.dtype is torch.bfloat16 else t.resolve_conj().numpy()


def _bytes(array: Any) -> bytes:
    """The bytes of an array; numbers of type bfloat16 as those of float32."""
    wide = array.astype(np.float32) if array.dtype.name == "bfloat16" else array
    return np.ascontiguousarray(wide).tobytes()


def in_gradtool(text: str) -> tuple[Gradients, list[str]]:
    """Return the same as the recorder has it, and what is said of leaves that are reported to get no gradient."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "leaves.py")
        path.write_text(text, "utf-8")
        question = Backward()
        with open_model(question.adapt(Request(str(path)))) as model:
            gradients = {
                e.display_name: (_bytes(e.tensor.grad.array), _bytes(e.tensor.array))
                for e in model.entries
                if e.tensor.node is None and e.tensor.grad is not None
            }
            rows = question.answer(model).rows
    return gradients, [f"{row.shown}: {row.status}" for row in rows if row.counts and not row.has_gradient]


def compare(text: str) -> str:
    """Return what differs between torch and gradtool in a script; empty where nothing does."""
    truth = in_torch(text)
    if not truth:
        return "torch gives no leaf a gradient"
    seen, cut = in_gradtool(text)
    wrong = sorted(name for name, values in truth.items() if seen.get(name) != values)
    parts = [f"{n}: {_difference(truth[n], seen.get(n))}" for n in wrong]
    return "; ".join([*parts, *[said for said in cut if said.partition(":")[0] in truth]])


def _difference(truth: tuple[bytes, bytes], seen: tuple[bytes, bytes] | None) -> str:
    if seen is None:
        return "no leaf"
    return "another gradient" if truth[0] != seen[0] else "other values"


def main() -> int:
    """Compare all scripts, or those whose names hold a text; the exit code is 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.torch.leaves", description=__doc__)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    texts = {n: t for n, t in scripts().items() if not options.names or any(part in n for part in options.names)}
    wrong = 0
    for name, text in texts.items():
        try:
            found = compare(text)
        except Exception as error:
            found = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        wrong += bool(found)
        if found:
            print(f"WRONG {name}: {found}")
    print(f"{len(texts)} ways to a leaf, {wrong} seen otherwise than torch has them; {len(WITHOUT)} make none")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
