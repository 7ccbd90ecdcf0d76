# symptom   the scorer's gradients are None
# cause     a model that is local to a function is followed by detach
# command   why
# verdict   detached
# line      hidden = scorer(x).detach()
# affected  scorer.weight scorer.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


def train(steps):
    scorer = nn.Linear(5, 4)
    judge = nn.Linear(4, 1)
    optimizer = paddle.optimizer.Adam(1e-3, parameters=[*scorer.parameters(), *judge.parameters()])
    for _ in range(steps):
        x = paddle.randn([6, 5])
        hidden = scorer(x).detach()
        loss = F.binary_cross_entropy_with_logits(judge(hidden), paddle.ones([6, 1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return float(loss)


if __name__ == "__main__":
    print(train(3))
