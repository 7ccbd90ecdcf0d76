"""Nested, complex, sparse, quantized and fake tensors, and a dispatch mode of the script's own."""

# expect: nothing

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode


class Names(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
rows = torch.nested.as_nested_tensor([w[:3].view(1, 3), w.view(2, 2).repeat(1, 2)[:, :3]], layout=torch.jagged)
c = torch.complex(w, w * 2)
with FakeTensorMode():
    shape = (torch.empty(2, 3) @ torch.empty(3, 4)).shape
quantized = torch.quantize_per_tensor(w.detach(), 0.1, 0, torch.qint8).dequantize()
with Names() as mode:
    loss = torch.sparse.mm(torch.eye(4).to_sparse(), w.view(4, 1)).sum() + (w * quantized).sum()
    loss = loss + (c * c.conj()).real.sum() + torch.nn.functional.silu(rows).values().sum()
    loss.backward()
