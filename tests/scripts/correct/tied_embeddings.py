# about     A language model whose output layer uses the embedding's weight; words that never occur have rows of zeros.
import paddle
import paddle.nn.functional as F
from paddle import nn


class TiedLM(nn.Layer):
    def __init__(self, vocabulary=20, size=8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, size)
        self.mix = nn.GRU(size, size)

    def forward(self, ids):
        h, _ = self.mix(self.embed(ids))
        return paddle.matmul(h, self.embed.weight, transpose_y=True)


if __name__ == "__main__":
    paddle.seed(30)
    lm = TiedLM()
    opt = paddle.optimizer.Adagrad(0.05, parameters=lm.parameters())
    for _ in range(3):
        ids = paddle.randint(0, 15, [4, 7])
        logits = lm(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape([-1, 20]), ids[:, 1:].reshape([-1]))
        loss.backward()
        opt.step()
        opt.clear_grad()
