# symptom   the first of two encoders has no gradient
# cause     the wrong one of the two stands under no_grad, and the optimizer holds it
# command   why
# verdict   computed under no_grad
# line      with paddle.no_grad():
# affected  online.weight online.bias
import copy

import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(27)
    online = nn.Linear(5, 4)
    target = copy.deepcopy(online)
    predictor = nn.Linear(4, 4)
    opt = paddle.optimizer.SGD(0.1, parameters=[*online.parameters(), *predictor.parameters()])
    for _ in range(3):
        x = paddle.randn([8, 5])
        with paddle.no_grad():
            z = online(x)
        goal = target(x + 0.1).detach()
        loss = F.mse_loss(predictor(z), goal)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
