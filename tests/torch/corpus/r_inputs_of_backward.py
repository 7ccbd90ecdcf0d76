"""Each network trains by its own loss: backward is asked for the gradients of its parameters alone."""
# expect: nothing

import torch

torch.manual_seed(0)
body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
first = torch.optim.SGD(body.parameters(), lr=0.1)
second = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(2):
    x = torch.randn(5, 3)
    loss = (head(torch.tanh(body(x))) - 1).square().mean()
    loss.backward(inputs=list(head.parameters()), retain_graph=True)
    (loss * 0.5).backward(inputs=list(body.parameters()))
    first.step()
    second.step()
    first.zero_grad()
    second.zero_grad()
