"""Parameters that come with the first batch, get other memory, or change places."""

# expect: nothing

import torch

torch.manual_seed(0)
x = torch.randn(4, 3)
lazy, plain, wide = torch.nn.LazyLinear(2), torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
plain(x), wide(x)
plain.weight.data = torch.full((2, 3), 0.5)
plain.load_state_dict({"weight": plain.weight.data, "bias": torch.ones(2)}, assign=True)
plain.requires_grad_()
wide.double()
first, second = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
(first * second).sum().item()
torch.utils.swap_tensors(first, second)
loss = (lazy(x) + plain(x) + wide(x.double()) + first * 2 + second * 3).sum()
loss.backward()
