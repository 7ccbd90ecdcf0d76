# about     Early stopping on a validation loss that is computed under no_grad and called loss as well.
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


def batches(x, y, size):
    order = np.random.permutation(len(x))
    for start in range(0, len(x), size):
        pick = order[start : start + size]
        yield paddle.to_tensor(x[pick]), paddle.to_tensor(y[pick])


def main():
    np.random.seed(0)
    paddle.seed(0)
    x = np.random.randn(60, 4).astype("float32")
    y = (x @ np.array([[1.0], [2.0], [0.0], [-1.0]], "float32")).astype("float32")
    train, valid = (x[:40], y[:40]), (x[40:], y[40:])
    model = nn.Linear(4, 1)
    opt = paddle.optimizer.SGD(0.05, parameters=model.parameters())
    best, patience = float("inf"), 2
    for epoch in range(20):
        model.train()
        for bx, by in batches(*train, 10):
            loss = F.mse_loss(model(bx), by)
            loss.backward()
            opt.step()
            opt.clear_grad()
        model.eval()
        with paddle.no_grad():
            loss = F.mse_loss(model(paddle.to_tensor(valid[0])), paddle.to_tensor(valid[1]))
        if float(loss) < best - 1e-4:
            best, patience = float(loss), 2
        else:
            patience -= 1
            if patience == 0:
                break
    print("best", best)


if __name__ == "__main__":
    main()
