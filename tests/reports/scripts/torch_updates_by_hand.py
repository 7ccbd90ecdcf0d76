import torch

torch.manual_seed(0)
first, second = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
x = torch.randn(8, 4)


def update(p, how):
    if how == 0:
        p.data -= 0.1 * p.grad
    elif how == 1:
        p.data = p.data - 0.1 * p.grad
    elif how == 2:
        p.data.add_(p.grad, alpha=-0.1)
    else:
        with torch.no_grad():
            p -= 0.1 * p.grad
    p.grad = None


for step in range(8):
    net = first if step < 4 else second
    loss = (net(x) ** 2).mean()
    loss.backward()
    for p in net.parameters():
        update(p, step % 4)
