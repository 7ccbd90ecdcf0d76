# symptom   logit_scale stays at its first value
# cause     it is a plain tensor of the layer, which parameters() does not list, and its value is taken by item()
# command   why
# verdict   detached
# line      return paddle.matmul(a, b, transpose_y=True) * self.logit_scale.exp().item()
# affected  model.logit_scale
import paddle
import paddle.nn.functional as F
from paddle import nn


class Clip(nn.Layer):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(6, 4)
        self.text = nn.Linear(5, 4)
        self.logit_scale = paddle.to_tensor(0.5, stop_gradient=False)

    def forward(self, images, texts):
        a, b = F.normalize(self.image(images)), F.normalize(self.text(texts))
        return paddle.matmul(a, b, transpose_y=True) * self.logit_scale.exp().item()


def main():
    paddle.seed(0)
    model = Clip()
    logits = model(paddle.randn([8, 6]), paddle.randn([8, 5]))
    loss = F.cross_entropy(logits, paddle.arange(8))
    loss.backward()


main()
