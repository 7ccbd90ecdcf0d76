# symptom   the encoder does not learn
# cause     a function that all models share detaches what it normalises
# command   why
# verdict   detached
# line      features = features.detach()
# affected  encoder.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def whiten(features):
    features = features.detach()
    return (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-5)


def embed(encoder, x):
    return whiten(F.relu(encoder(x)))


def main():
    paddle.seed(0)
    encoder, head = nn.Linear(5, 8), nn.Linear(8, 2)
    opt = paddle.optimizer.SGD(0.1, parameters=[*encoder.parameters(), *head.parameters()])
    for _ in range(3):
        x, y = paddle.randn([12, 5]), paddle.randint(0, 2, [12])
        loss = F.cross_entropy(head(embed(encoder, x)), y)
        opt.clear_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
