# symptom   fine-tuning does not change the backbone after the warm-up
# cause     trainable is set False for the warm-up and the epoch that should undo it is never reached
# command   why
# verdict   stop_gradient
# line      p.stop_gradient = True
# affected  model.backbone.weight model.backbone.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(6, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(paddle.tanh(self.backbone(x)))


WARMUP = 5


def main(epochs=4):
    model = Model()
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    for p in model.backbone.parameters():
        p.stop_gradient = True
    for epoch in range(epochs):
        if epoch == WARMUP:
            for p in model.backbone.parameters():
                p.stop_gradient = False
        x, y = paddle.randn([8, 6]), paddle.randint(0, 2, [8])
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
