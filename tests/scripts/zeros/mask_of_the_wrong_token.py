# symptom   the loss is 0 and nothing learns
# cause     the mask compares with the wrong padding id, so it is zero everywhere
# command   why
# verdict   zero: multiplied by 0
# line      mask = (targets == PAD).astype("float32")
# affected  model.embed.weight model.out.weight model.out.bias
import paddle
import paddle.nn.functional as F
from paddle import nn

PAD = 0


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.out = nn.Linear(6, 11)

    def forward(self, ids):
        return self.out(self.embed(ids))


def masked_loss(logits, targets):
    mask = (targets == PAD).astype("float32")
    each = F.cross_entropy(logits.reshape([-1, 11]), targets.reshape([-1]), reduction="none").reshape(targets.shape)
    return (each * mask).sum() / mask.sum().clip(min=1.0)


if __name__ == "__main__":
    paddle.seed(3)
    model = Model()
    opt = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    for _ in range(3):
        ids = paddle.randint(1, 11, [4, 6])
        loss = masked_loss(model(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        opt.step()
        opt.clear_grad()
