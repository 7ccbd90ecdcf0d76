# symptom   the generator does not learn
# cause     the generator's loss uses the detached samples of the critic's step
# command   why
# verdict   detached
# line      fake = generator(noise).detach()
# affected  generator.0.weight generator.2.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(8)
    generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
    critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 1))
    g_opt = paddle.optimizer.Adam(1e-3, parameters=generator.parameters())
    d_opt = paddle.optimizer.Adam(1e-3, parameters=critic.parameters())
    for _ in range(3):
        noise = paddle.randn([8, 2])
        fake = generator(noise).detach()
        real = paddle.randn([8, 2]) + 2
        d_loss = F.softplus(critic(fake)).mean() + F.softplus(-critic(real)).mean()
        d_opt.clear_grad()
        d_loss.backward()
        d_opt.step()
        g_loss = F.softplus(-critic(fake)).mean()
        g_opt.clear_grad()
        g_loss.backward()
        g_opt.step()


if __name__ == "__main__":
    main()
