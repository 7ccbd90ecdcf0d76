# symptom   the second batch raises: the graph was freed
# cause     the state of the last batch is used again without detach
# command   why
# exit      4
# verdict   freed graph
# line      _, state = cell(
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(7)
    cell, out = nn.GRUCell(3, 5), nn.Linear(5, 1)
    opt = paddle.optimizer.Adam(1e-2, parameters=[*cell.parameters(), *out.parameters()])
    state = paddle.zeros([4, 5])
    for batch in range(3):
        _, state = cell(paddle.randn([4, 3]), state)
        loss = F.mse_loss(out(state), paddle.ones([4, 1]))
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
