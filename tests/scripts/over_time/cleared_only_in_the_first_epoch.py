# symptom   the first epoch is fine, later ones diverge
# cause     clear_grad stands in a branch that only the first epoch takes
# command   why
# verdict   backward calls without clearing
# line      loss.backward()
# affected  model.weight model.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(2)
    model = nn.Linear(3, 1)
    opt = paddle.optimizer.SGD(0.05, parameters=model.parameters())
    for epoch in range(2):
        for _ in range(3):
            x = paddle.randn([8, 3])
            loss = F.mse_loss(model(x), x[:, :1])
            loss.backward()
            opt.step()
            if epoch == 0:
                opt.clear_grad()


if __name__ == "__main__":
    main()
