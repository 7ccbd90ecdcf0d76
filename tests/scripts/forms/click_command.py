# symptom   the head's gradient is None
# cause     detach, in a script whose main is a click command
# command   why
# verdict   detached
# line      loss = F.mse_loss(head(body(x)).detach() + offset, y)
# affected  body.weight head.weight
# arguments --steps 2
import click
import paddle
import paddle.nn.functional as F
from paddle import nn


@click.command()
@click.option("--steps", default=3, help="How many steps.")
@click.option("--lr", default=0.1)
def main(steps, lr):
    paddle.seed(0)
    body, head = nn.Linear(4, 6), nn.Linear(6, 1)
    offset = paddle.create_parameter([1], "float32", is_bias=True)
    opt = paddle.optimizer.SGD(lr, parameters=[*body.parameters(), *head.parameters(), offset])
    for _ in range(steps):
        x = paddle.randn([5, 4])
        y = x[:, :1]
        loss = F.mse_loss(head(body(x)).detach() + offset, y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
