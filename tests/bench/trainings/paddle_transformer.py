"""An encoder of two layers that classifies sequences."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(0)


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        self.place = self.create_parameter([32, 64])
        layer = nn.TransformerEncoderLayer(64, 4, 128)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 4)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids) + self.place).mean(1))


def main():
    model = Classifier()
    optimizer = paddle.optimizer.AdamW(3e-4, parameters=model.parameters())
    ids, labels = paddle.randint(0, 500, [2048, 32]), paddle.randint(0, 4, [2048])
    for i in range(0, 2048, 64):
        loss = F.cross_entropy(model(ids[i : i + 64]), labels[i : i + 64])
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
