# symptom   the queries are trained by half of what they do
# cause     the weights of the attention are computed under no_grad
# command   gradcheck
# exit      1
# verdict   uses of
# line      attention_weights_under_no_grad.py:14
# affected  project.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def attend(hidden):
    with paddle.no_grad():
        weights = F.softmax(hidden @ hidden.T)
    return weights @ hidden


def main():
    paddle.seed(2)
    project, out = nn.Linear(4, 6), nn.Linear(6, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=[*project.parameters(), *out.parameters()])
    for _ in range(2):
        loss = (out(attend(project(paddle.randn([5, 4])))) ** 2).mean()
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
