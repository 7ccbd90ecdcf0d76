"""Weights and activations rounded in the forward pass, straight through in the backward pass."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class FakeQuantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, qmin, qmax):
        q = torch.round(x / scale)
        ctx.save_for_backward((q >= qmin) & (q <= qmax))
        return torch.clamp(q, qmin, qmax) * scale

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask, None, None, None


class QLinear(nn.Linear):
    def __init__(self, *args):
        super().__init__(*args)
        self.register_buffer("act_scale", torch.tensor(0.05))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.act_scale.mul_(0.9).add_(0.1 * x.abs().max() / 127)
        x = FakeQuantize.apply(x, self.act_scale, -128, 127)
        scale = self.weight.detach().abs().max() / 127
        return F.linear(x, FakeQuantize.apply(self.weight, scale, -128, 127), self.bias)


torch.manual_seed(0)
model = nn.Sequential(QLinear(8, 16), nn.ReLU(), QLinear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(5):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
