# symptom   the positions are not learned
# cause     they are cast to whole numbers to look up a row
# command   why
# verdict   integer dtype
# line      return position.astype("int64")
# affected  scorer.weight scorer.bias
import paddle
from paddle import nn


def bins(position):
    return position.astype("int64")


def main():
    paddle.seed(3)
    scorer, table, out = nn.Linear(4, 1), nn.Embedding(8, 6), nn.Linear(6, 1)
    parameters = [p for layer in (scorer, table, out) for p in layer.parameters()]
    opt = paddle.optimizer.Adam(1e-2, parameters=parameters)
    for _ in range(3):
        position = paddle.nn.functional.sigmoid(scorer(paddle.randn([10, 4]))) * 7
        row = table(bins(position).squeeze(-1))
        loss = (out(row) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
