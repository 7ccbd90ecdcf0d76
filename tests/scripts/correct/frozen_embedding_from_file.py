# about     Pretrained vectors are loaded into an embedding with trainable=False; padding is masked out of the mean.
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class Tagger(nn.Layer):
    def __init__(self, vectors, classes):
        super().__init__()
        rows, size = vectors.shape
        attr = paddle.ParamAttr(initializer=nn.initializer.Assign(vectors), trainable=False)
        self.embed = nn.Embedding(rows, size, padding_idx=0, weight_attr=attr)
        self.hidden = nn.Linear(size, 10)
        self.out = nn.Linear(10, classes)

    def forward(self, ids):
        mask = (ids != 0).astype("float32").unsqueeze(-1)
        mean = (self.embed(ids) * mask).sum(axis=1) / mask.sum(axis=1).clip(min=1.0)
        return self.out(paddle.tanh(self.hidden(mean)))


def main():
    rng = np.random.RandomState(1)
    vectors = rng.randn(30, 6).astype("float32")
    model = Tagger(vectors, 4)
    opt = paddle.optimizer.Adam(1e-2, parameters=[p for p in model.parameters() if p.trainable])
    for _ in range(3):
        ids = rng.randint(1, 30, [5, 7])
        ids[:, 5:] = 0
        loss = F.cross_entropy(model(paddle.to_tensor(ids)), paddle.to_tensor(rng.randint(0, 4, [5])))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
