# about     A Trainer object that holds model, optimizer and schedule; everything happens in methods.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Trainer:
    def __init__(self, model, lr, steps):
        self.model = model
        self.schedule = paddle.optimizer.lr.CosineAnnealingDecay(lr, T_max=steps)
        clip = nn.ClipGradByGlobalNorm(1.0)
        self.optimizer = paddle.optimizer.AdamW(self.schedule, parameters=model.parameters(), grad_clip=clip)
        self.history = []

    def train_step(self, x, y):
        self.model.train()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.schedule.step()
        self.history.append(float(loss))

    @paddle.no_grad()
    def evaluate(self, x, y):
        self.model.eval()
        return float((self.model(x).argmax(axis=-1) == y).astype("float32").mean())


def main():
    paddle.seed(13)
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
    trainer = Trainer(model, 1e-2, 5)
    for _ in range(5):
        trainer.train_step(paddle.randn([20, 8]), paddle.randint(0, 3, [20]))
    print(trainer.history, trainer.evaluate(paddle.randn([10, 8]), paddle.randint(0, 3, [10])))


if __name__ == "__main__":
    main()
