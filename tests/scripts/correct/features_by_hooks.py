# about     Inner results leave by hooks; a frozen copy of a network with normed weights teaches what they should be.
import copy

import paddle
import paddle.nn.functional as F
from paddle import nn


class Listened(nn.Layer):
    """Returns its result and those of the layers that are listened to."""

    def listen(self, *names):
        self.heard = {}
        for name, layer in self.named_sublayers():
            if name in names:
                layer.own_name = name
                layer.register_forward_post_hook(self.hear)
        self.register_forward_post_hook(lambda layer, inputs, output: {"output": output, **layer.heard})

    def hear(self, layer, inputs, output):
        self.heard[layer.own_name] = output


class Net(Listened):
    def __init__(self):
        super().__init__()
        self.body = nn.LayerDict({"first": nn.Linear(4, 8), "second": nn.utils.weight_norm(nn.Linear(8, 8), dim=1)})
        self.scales = nn.ParameterList([self.create_parameter([1]) for _ in self.body])
        self.head = nn.Linear(8, 3)
        self.register_buffer("calls", paddle.zeros([1], "int64"), persistable=False)

    def forward(self, x):
        self.calls += 1
        for layer, scale in zip(self.body.values(), self.scales):
            x = F.silu(layer(x)) * scale
        return self.head(x)


def main():
    paddle.seed(9)
    net = Net()
    teacher = copy.deepcopy(net)
    teacher.eval()
    teacher.requires_grad_(False)
    for one in (net, teacher):
        one.listen("body.second")
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    for _ in range(3):
        x = paddle.randn([8, 4])
        mine, goal = net(x), teacher(x)
        loss = F.cross_entropy(mine["output"], x.argmax(axis=1) % 3)
        loss += F.mse_loss(mine["body.second"] + 0.1, goal["body.second"].detach())
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


if __name__ == "__main__":
    main()
