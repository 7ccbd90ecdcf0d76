# symptom   nothing is learned; the loss is 0
# cause     the mask keeps what is padding
# command   why
# verdict   zero: multiplied by 0
# line      return (positions >= lengths.unsqueeze(-1)).astype("float32")
# affected  encoder.weight
import paddle
from paddle import nn


def mask_of(lengths, steps):
    positions = paddle.arange(steps).unsqueeze(0)
    return (positions >= lengths.unsqueeze(-1)).astype("float32")


def main():
    paddle.seed(0)
    encoder, head = nn.Linear(3, 6), nn.Linear(6, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=[*encoder.parameters(), *head.parameters()])
    for _ in range(3):
        x, lengths = paddle.randn([4, 5, 3]), paddle.full([4], 5, dtype="int64")
        mask = mask_of(lengths, 5)
        error = (head(paddle.tanh(encoder(x))).squeeze(-1) - 1) ** 2
        loss = (error * mask).sum() / paddle.clip(mask.sum(), min=1.0)
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
