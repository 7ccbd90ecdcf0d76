# symptom   a layer that is added later does not learn
# cause     growing the net adds a layer that the optimizer has never seen
# command   why
# verdict   not in parameter_list
# line      net.append(nn.Linear(6, 6))
# affected  net.2.weight net.2.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


def forward(net, x):
    for layer in net:
        x = paddle.tanh(layer(x))
    return x


def main():
    paddle.seed(4)
    net = nn.LayerList([nn.Linear(6, 6), nn.Linear(6, 6)])
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for step in range(4):
        if step == 2:
            net.append(nn.Linear(6, 6))
        x = paddle.randn([8, 6])
        loss = F.mse_loss(forward(net, x), x * 0.5)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
