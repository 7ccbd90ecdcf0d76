# symptom   the loss is NaN from the first step on
# cause     the logarithm of log_softmax is taken
# command   nan
# verdict   a logarithm already (log_softmax)
# line      return -(paddle.exp(log_p) * paddle.log(log_p)).sum(axis=-1).mean()
# affected  policy.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def entropy(log_p):
    return -(paddle.exp(log_p) * paddle.log(log_p)).sum(axis=-1).mean()


def main():
    paddle.seed(0)
    policy = nn.Linear(4, 3)
    opt = paddle.optimizer.Adam(1e-3, parameters=policy.parameters())
    for _ in range(3):
        log_p = F.log_softmax(policy(paddle.randn([8, 4])))
        loss = F.nll_loss(log_p, paddle.randint(0, 3, [8])) - 0.01 * entropy(log_p)
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
