# about     A mean teacher: its weights are an average of the student's, written under no_grad, and in no optimizer.
import copy

import paddle
import paddle.nn.functional as F
from paddle import nn


def make_net():
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))


@paddle.no_grad()
def follow(teacher, student, decay=0.9):
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.set_value(decay * slow + (1 - decay) * fast)


def main():
    paddle.seed(11)
    student = make_net()
    teacher = copy.deepcopy(student)
    for weight in teacher.parameters():
        weight.stop_gradient = True
    optimizer = paddle.optimizer.Momentum(0.05, parameters=student.parameters())
    for _ in range(4):
        x = paddle.randn([12, 8])
        noisy = x + 0.1 * paddle.randn(x.shape)
        with paddle.no_grad():
            goal = F.softmax(teacher(x))
        loss = F.kl_div(F.log_softmax(student(noisy)), goal, reduction="batchmean")
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        follow(teacher, student)


if __name__ == "__main__":
    main()
