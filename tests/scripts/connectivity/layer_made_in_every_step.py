# symptom   the projection stays random
# cause     a method makes a new layer each time that it is called; no optimizer has it
# command   why
# verdict   not in parameter_list
# line      projection = nn.Linear(4, 4)
# affected  Trainer.features.projection.weight Trainer.features.projection.bias
import paddle
from paddle import nn


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
        self.optimizer = paddle.optimizer.Adam(parameters=self.model.parameters())

    def features(self, batch):
        projection = nn.Linear(4, 4)
        return projection(batch["x"]) * batch["mask"]

    def fit(self, steps):
        for _ in range(steps):
            batch = {"x": paddle.randn([2, 4]), "mask": paddle.ones([2, 4])}
            loss = self.model(self.features(batch)).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()


if __name__ == "__main__":
    Trainer().fit(3)
