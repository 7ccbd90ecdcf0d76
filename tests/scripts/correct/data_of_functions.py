# symptom   none: masks, noise and targets come from functions that nobody remembers
# command   why
import paddle
from paddle import nn


def targets(prediction):
    with paddle.no_grad():
        goal = paddle.tanh(prediction * 2)
    return goal


def mask_of(rows):
    mask = paddle.ones([rows, 1])
    mask[0] = 0.0
    return mask


def batches(count):
    for _ in range(count):
        yield paddle.randn([4, 3])


def main():
    paddle.seed(0)
    net = nn.Linear(3, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for batch in batches(3):
        prediction = net(batch)
        loss = ((prediction - targets(prediction)) ** 2 * mask_of(4)).mean() * 0.5
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


main()
