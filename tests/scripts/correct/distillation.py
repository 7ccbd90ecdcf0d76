# about     Knowledge distillation: the teacher is frozen by trainable = False and runs under no_grad.
import argparse

import paddle
import paddle.nn.functional as F
from paddle import nn


class Classifier(nn.Layer):
    def __init__(self, width, classes=5):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.classify = nn.Linear(width, classes)

    def forward(self, x):
        return self.classify(self.features(x))


def distil(student, teacher, x, labels, temperature):
    with paddle.no_grad():
        soft = F.softmax(teacher(x) / temperature)
    logits = student(x)
    hard = F.cross_entropy(logits, labels)
    gentle = F.kl_div(F.log_softmax(logits / temperature), soft, reduction="batchmean")
    return hard + temperature**2 * gentle


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--temperature", type=float, default=2.0)
    args = parser.parse_args()
    paddle.seed(5)
    teacher, student = Classifier(32), Classifier(8)
    for weight in teacher.parameters():
        weight.trainable = False
    opt = paddle.optimizer.AdamW(1e-3, parameters=student.parameters())
    for _ in range(3):
        x = paddle.randn([16, 10])
        labels = paddle.randint(0, 5, [16])
        loss = distil(student, teacher, x, labels, args.temperature)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
