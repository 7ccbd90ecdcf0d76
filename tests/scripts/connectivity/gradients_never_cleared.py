# symptom   the loss oscillates and grows
# cause     clear_grad is missing, so gradients of all steps are added up
# command   why
# verdict   backward calls without clearing
# line      loss.backward()
# affected  model.weight model.bias
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.io import DataLoader, TensorDataset


def main():
    paddle.seed(9)
    x = paddle.randn([30, 3])
    loader = DataLoader(TensorDataset([x, x.sum(axis=1, keepdim=True)]), batch_size=10)
    model = nn.Linear(3, 1)
    opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    for epoch in range(2):
        for bx, by in loader:
            loss = F.mse_loss(model(bx), by)
            loss.backward()
            opt.step()
    print(float(loss))


if __name__ == "__main__":
    main()
