"""Leaves from one factory of each kind."""

# expect: nothing

import numpy as np
import torch

torch.manual_seed(0)
leaves = {
    "tensor": torch.tensor([0.5, 2.0], requires_grad=True),
    "as_tensor": torch.as_tensor([0.5, 2.0]).requires_grad_(),
    "asarray": torch.asarray([0.5, 2.0], requires_grad=True),
    "from_numpy": torch.from_numpy(np.array([0.5, 2.0])).requires_grad_(),
    "frombuffer": torch.frombuffer(bytearray(8), dtype=torch.float32).requires_grad_(),
    "full": torch.full((2,), 0.5, requires_grad=True),
    "zeros_like": torch.zeros_like(torch.ones(2), requires_grad=True),
    "new_tensor": torch.ones(2).new_tensor([0.5, 2.0], requires_grad=True),
    "new_full": torch.ones(2).new_full((2,), 0.5, requires_grad=True),
    "linspace": torch.linspace(0.0, 1.0, 2, requires_grad=True),
    "bfloat16": torch.tensor([0.5, 2.0], dtype=torch.bfloat16, requires_grad=True),
    "no_leaf_before": (torch.ones(2, requires_grad=True) * 0.1).detach().requires_grad_(),
    "Parameter": torch.nn.Parameter(torch.ones(2)),
    "clone": torch.ones(2).clone().requires_grad_(),
}
loss = sum((leaf * 3).tanh().sum() for leaf in leaves.values())
loss.backward()
