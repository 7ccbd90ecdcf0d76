# about     CLIP-like contrastive learning with a learned temperature that is a plain tensor on the layer.
import math

import paddle
import paddle.nn.functional as F
from paddle import nn


class TwoTowers(nn.Layer):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(10, 6), nn.Linear(8, 6)
        self.logit_scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(math.log(1 / 0.07)))

    def forward(self, a, b):
        a = F.normalize(self.image(a), axis=-1)
        b = F.normalize(self.text(b), axis=-1)
        return paddle.exp(self.logit_scale) * paddle.matmul(a, b, transpose_y=True)


def main():
    paddle.seed(23)
    model = TwoTowers()
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters(), weight_decay=0.01)
    for _ in range(3):
        logits = model(paddle.randn([8, 10]), paddle.randn([8, 8]))
        labels = paddle.arange(8)
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


if __name__ == "__main__":
    main()
