# about     Mixed precision as tutorials write it: a scaler whose first scales are too large, narrow parameters with masters.
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(10)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    model, opt = paddle.amp.decorate(model, opt, level="O2")
    scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**20)
    for _ in range(8):
        x = paddle.randn([16, 8])
        y = x.mean(axis=1, keepdim=True)
        with paddle.amp.auto_cast(level="O2"):
            loss = F.mse_loss(model(x), y)
        scaled = scaler.scale(loss)
        scaled.backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()


if __name__ == "__main__":
    main()
