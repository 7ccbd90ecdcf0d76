# about     Saves a checkpoint every epoch, loads the best one at the end, and goes on for a step.
import os
import tempfile

import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(4)
    folder = tempfile.mkdtemp()
    net = nn.Sequential(nn.Linear(3, 6), nn.Sigmoid(), nn.Linear(6, 1))
    opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    x = paddle.randn([20, 3])
    y = (x**2).sum(axis=1, keepdim=True)

    def step():
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return float(loss)

    best, best_path = float("inf"), None
    for epoch in range(3):
        value = step()
        path = os.path.join(folder, f"epoch{epoch}.pdparams")
        paddle.save(net.state_dict(), path)
        paddle.save(opt.state_dict(), path.replace("pdparams", "pdopt"))
        if value < best:
            best, best_path = value, path
    net.set_state_dict(paddle.load(best_path))
    opt.set_state_dict(paddle.load(best_path.replace("pdparams", "pdopt")))
    step()
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    os.rmdir(folder)


if __name__ == "__main__":
    main()
