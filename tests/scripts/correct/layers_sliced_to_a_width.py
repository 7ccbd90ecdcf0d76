# about     Layers that compute with a part of their weights, from what their bases keep as attributes.
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.nn.layer.conv import _ConvNd


class SlicedConv(nn.Conv2D):
    def forward(self, x, filters):
        weight = self.weight[:filters, : x.shape[1]]
        return F.conv.conv2d(
            x, weight, self.bias[:filters], self._stride, self._updated_padding, self._dilation, self._groups,
            self._data_format,
        )


class SlicedNorm(nn.BatchNorm2D):
    def forward(self, x):
        self._check_input_dim(x)
        size = x.shape[1]
        return F.batch_norm(
            x, self._mean[:size], self._variance[:size], self.weight[:size], self.bias[:size],
            training=self.training, momentum=self._momentum, epsilon=self._epsilon, data_format=self._data_format,
        )


class SlicedLinear(nn.Linear):
    def forward(self, input):
        out = F.linear(x=input, weight=self.weight[: input.shape[-1]], bias=self.bias)
        return self._helper.append_activation(out, act="tanh")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([SlicedConv(3 if i == 0 else 8, 8, 3, padding=1) for i in range(2)])
        self.norms = nn.LayerList([SlicedNorm(8) for _ in range(2)])
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.fc = SlicedLinear(8, 6)
        self.head = nn.Linear(6, 2)
        for layer in self.sublayers():
            if isinstance(layer, _ConvNd):
                nn.initializer.KaimingNormal()(layer.weight)

    def forward(self, x, filters):
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x, filters)))
        return self.head(self.fc(input=paddle.flatten(self.pool(x), 1)))


def main():
    paddle.seed(2)
    net = Net()
    optimizer = paddle.optimizer.Momentum(0.05, parameters=net.parameters())
    for filters in (8, 4, 8):
        x = paddle.randn([6, 3, 8, 8])
        loss = F.cross_entropy(net(x, filters), (x.mean(axis=[1, 2, 3]) > 0).astype("int64"))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


if __name__ == "__main__":
    main()
