# symptom   the loss is NaN for the batch whose sequences are all padding
# cause     the sum of the mask is clipped at 0
# command   nan
# verdict   the clip lets 0 through
# line      return (values * mask).sum() / paddle.clip(mask.sum(), min=0.0)
# affected  scorer.weight
import paddle
from paddle import nn


def average(values, mask):
    return (values * mask).sum() / paddle.clip(mask.sum(), min=0.0)


def main():
    paddle.seed(0)
    scorer = nn.Linear(3, 1)
    opt = paddle.optimizer.SGD(0.1, parameters=scorer.parameters())
    for kept in (4, 2, 0):
        mask = (paddle.arange(6) < kept).astype("float32")
        loss = average(scorer(paddle.randn([6, 3])).squeeze(-1) ** 2, mask)
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
