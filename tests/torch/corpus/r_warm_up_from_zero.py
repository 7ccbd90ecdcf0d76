"""A schedule begins at a rate of 0 and raises it: the first step changes nothing, as it is meant."""

# expect: nothing
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step / 10)
loss = net(torch.randn(6, 4)).square().mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
schedule.step()
