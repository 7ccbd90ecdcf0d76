# about     Two heads with an optimizer each, which step between the losses; their encoder takes both gradients at the end.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(5)
encoder = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
heads = [nn.Linear(16, 3), nn.Linear(16, 1)]
of_encoder = paddle.optimizer.Adam(1e-2, parameters=encoder.parameters())
of_heads = [paddle.optimizer.Adam(1e-2, parameters=head.parameters()) for head in heads]
x, classes = paddle.randn([12, 6]), paddle.arange(12) % 3
values = x.sum(axis=1, keepdim=True)
for _ in range(4):
    F.cross_entropy(heads[0](encoder(x)), classes).backward()
    of_heads[0].step()
    F.mse_loss(heads[1](encoder(x)), values).backward()
    of_heads[1].step()
    of_encoder.step()
    for opt in (of_encoder, *of_heads):
        opt.clear_grad()
