# symptom   one expert never learns
# cause     the gate's bias keeps it from ever being among the first two
# command   why
# verdict   zero
# line      out = out + share * expert(x)
# affected  net.experts.3.weight net.experts.3.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Mixture(nn.Layer):
    def __init__(self, size=5, experts=4):
        super().__init__()
        start = nn.initializer.Assign([0.0, 0.0, 0.0, -50.0])
        self.gate = nn.Linear(size, experts, bias_attr=paddle.ParamAttr(initializer=start))
        self.experts = nn.LayerList([nn.Linear(size, 1) for _ in range(experts)])

    def forward(self, x):
        top, which = paddle.topk(self.gate(x), 2, axis=-1)
        weights = F.softmax(top, axis=-1)
        out = 0
        for i, expert in enumerate(self.experts):
            share = (weights * (which == i).astype("float32")).sum(axis=-1, keepdim=True)
            out = out + share * expert(x)
        return out


def main():
    paddle.seed(4)
    net = Mixture()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([24, 5])
        loss = F.mse_loss(net(x), x.sum(axis=1, keepdim=True))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
