import torch

gate, experts = torch.nn.Linear(6, 4), torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(4))
opt = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
for i in range(3):
    x = torch.randn(16, 6)
    weight, index = gate(x).softmax(-1).topk(2, dim=-1)
    outputs = torch.stack([e(x) for e in experts], 1)
    y = (outputs.gather(1, index.unsqueeze(-1).expand(-1, -1, 6)) * weight.unsqueeze(-1)).sum(1)
    loss = torch.nn.functional.mse_loss(y, x.roll(1, -1))
    opt.zero_grad()
    loss.backward()
    opt.step()
