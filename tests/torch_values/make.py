"""Record what PyTorch computes for every row of the table.

Run from the root of the repository with an interpreter that has ``torch==2.13.0`` and NumPy::

    python -m tests.torch_values.make

It writes values.json. Tests read that file only; PyTorch is no dependency of theirs.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from .rows import Row
from .table import ROWS

FILE = Path(__file__).with_name("values.json")


def layer(module: Any, parameters: dict[str, Any], *args: Any) -> Any:
    """What the module *made* gives with these tensors for its parameters."""
    assert set(parameters) == {n for n, _ in module.named_parameters()}
    return torch.func.functional_call(module.double(), parameters, args)


def flat(result: Any) -> list[Any]:
    return [e for r in result for e in flat(r)] if isinstance(result, (list, tuple)) else [result]


def plain(tensor: Any) -> Any:
    if tensor is None or tensor._is_zerotensor():  # the latter has no memory to read; both say that it is zero
        return None
    return tensor.detach().tolist()


def record(row: Row) -> dict[str, Any]:
    """Inputs, results, the weights given to the results, and the gradients of order one and two."""
    rng = np.random.default_rng(zlib.crc32(row.name.encode()) + 1)
    values = row.values()
    inputs = {n: torch.tensor(v) for n, v in values.items()}
    leaves = [t.requires_grad_() for n, t in inputs.items() if t.is_floating_point() and n not in row.fixed]
    names = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, "layer": layer}
    results = flat(eval(row.theirs, names, dict(inputs)))
    content: dict[str, Any] = {
        "torch": row.theirs,
        "inputs": {n: {"dtype": str(v.dtype), "value": v.tolist()} for n, v in values.items()},
        "results": [plain(r) for r in results],
    }
    roots = [r for r in results if r.requires_grad]
    if not roots:
        return content
    weights = [rng.uniform(-1, 1, tuple(r.shape)) for r in roots]
    first = torch.autograd.grad(
        roots,
        leaves,
        [torch.tensor(w, dtype=r.dtype) for w, r in zip(weights, roots, strict=True)],
        create_graph=row.smooth,
        allow_unused=True,
    )
    content |= {"weights": [w.tolist() for w in weights], "first": [plain(g) for g in first]}
    if row.smooth:
        along = [rng.uniform(-1, 1, tuple(t.shape)) for t in leaves]
        pairs = [(g, torch.tensor(a)) for g, a in zip(first, along, strict=True) if g is not None and g.requires_grad]
        second = [None] * len(leaves)
        if pairs:
            second = torch.autograd.grad([g for g, _ in pairs], leaves, [a for _, a in pairs], allow_unused=True)
        content |= {"along": [a.tolist() for a in along], "second": [plain(g) for g in second]}
    return content


def main() -> None:
    torch.set_num_threads(1)
    lines = []
    for row in ROWS:
        try:
            with sdpa_kernel(SDPBackend.MATH):  # the one that can be differentiated twice
                lines.append(f"{json.dumps(row.name)}: {json.dumps(record(row), separators=(',', ':'))}")
        except Exception as error:
            raise SystemExit(f"{row.name}: {error}") from error
    head = f'"torch version": "{torch.__version__}"'
    FILE.write_text("{\n" + ",\n".join([head, *lines]) + "\n}\n", encoding="utf-8")
    print(f"{len(ROWS)} rows, {FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
