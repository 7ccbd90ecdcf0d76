import torch

torch.manual_seed(0)
x, y = torch.randn(32, 3), torch.randn(32, 1)
net = torch.nn.Linear(3, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=1, max_iter=50, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    return loss


for _ in range(10):
    loss = opt.step(closure)
