# symptom   the gate and what follows it are not trained
# cause     the condition compares with a threshold in other units
# command   why
# verdict   its condition holds nowhere
# line      return signal > 100
# affected  gate.weight head.weight
import paddle
from paddle import nn


def is_loud(signal):
    return signal > 100


def main():
    paddle.seed(0)
    gate, head = nn.Linear(4, 4), nn.Linear(4, 1)
    opt = paddle.optimizer.SGD(0.1, parameters=[*gate.parameters(), *head.parameters()])
    for _ in range(2):
        signal = paddle.rand([8, 4])
        passed = paddle.where(is_loud(signal), gate(signal), paddle.zeros([8, 4]))
        loss = ((head(passed) - 1) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
