# symptom   the loss stays where it is, and the scaler says inf in every step
# cause     a fixed loss scale with which every gradient is beyond float16
# command   nan
# verdict   all 4 updates were skipped
# line      loss = F.mse_loss(model(x), y)
# affected  model.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(10)
    model = nn.Linear(8, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**30, use_dynamic_loss_scaling=False)
    for _ in range(4):
        x = paddle.randn([16, 8])
        y = x.mean(axis=1, keepdim=True)
        with paddle.amp.auto_cast():
            loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()


if __name__ == "__main__":
    main()
