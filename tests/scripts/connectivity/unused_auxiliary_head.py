# symptom   the auxiliary head stays as it was made
# cause     the caller drops what the head gives
# command   why
# verdict   used, but no path to the loss
# line      logits, _ = model(images)
# affected  model.auxiliary.weight model.auxiliary.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 10)
        self.main = nn.Linear(10, 3)
        self.auxiliary = nn.Linear(10, 3)

    def forward(self, x):
        hidden = F.relu(self.trunk(x))
        return self.main(hidden), self.auxiliary(hidden)


def main():
    paddle.seed(0)
    model = Classifier()
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    for _ in range(3):
        images, labels = paddle.randn([8, 6]), paddle.randint(0, 3, [8])
        logits, _ = model(images)
        loss = F.cross_entropy(logits, labels)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
