# about     A learning rate of zero in the first step of the warmup: the weights stay, the gradients are right.
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.Hardswish(), nn.Linear(8, 2))
    schedule = paddle.optimizer.lr.LinearWarmup(learning_rate=0.1, warmup_steps=3, start_lr=0.0, end_lr=0.1)
    opt = paddle.optimizer.Momentum(schedule, parameters=model.parameters())
    for step in range(4):
        x, y = paddle.randn([10, 4]), paddle.randint(0, 2, [10])
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        schedule.step()
        print(step, opt.get_lr(), float(loss))


if __name__ == "__main__":
    main()
