# symptom   the decoder's first layer gets nothing from later words
# cause     the next word is the argmax of the last one, through which no gradient passes; the first word's path is detached too
# command   why
# verdict   non-differentiable op
# line      word = logits.argmax(axis=-1)
# affected  decoder.start.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


class Decoder(nn.Layer):
    def __init__(self, words=9, size=6):
        super().__init__()
        self.start = nn.Linear(4, words)
        self.embed = nn.Embedding(words, size)
        self.out = nn.Linear(size, words)

    def forward(self, context, steps):
        logits = self.start(context)
        outputs = []
        for _ in range(steps):
            word = logits.argmax(axis=-1)
            logits = self.out(self.embed(word))
            outputs.append(logits)
        return paddle.stack(outputs, axis=1)


def main():
    paddle.seed(5)
    decoder = Decoder()
    opt = paddle.optimizer.Adam(1e-2, parameters=decoder.parameters())
    for _ in range(3):
        out = decoder(paddle.randn([5, 4]), 3)
        loss = F.cross_entropy(out.reshape([-1, 9]), paddle.randint(0, 9, [15]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
