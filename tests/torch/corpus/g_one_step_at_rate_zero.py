"""One step is taken at a learning rate of 0 that no schedule raises."""

# expect: nothing
# rules: GT702 at line 9
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
loss = net(torch.randn(6, 4)).square().mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
