# about     WGAN-GP: the penalty is a gradient of a gradient; the biases of the critic's last layer do not matter to it, which is right.
import paddle
from paddle import nn


def critic_and_generator():
    critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
    return critic, generator


def penalty(critic, real, fake):
    mix = paddle.rand([real.shape[0], 1])
    between = mix * real + (1 - mix) * fake
    between.stop_gradient = False
    (slope,) = paddle.grad(critic(between).sum(), [between], create_graph=True)
    return ((slope.norm(p=2, axis=1) - 1) ** 2).mean()


def main():
    paddle.seed(6)
    critic, generator = critic_and_generator()
    c_opt = paddle.optimizer.Adam(1e-3, beta1=0.5, beta2=0.9, parameters=critic.parameters())
    g_opt = paddle.optimizer.Adam(1e-3, beta1=0.5, beta2=0.9, parameters=generator.parameters())
    for step in range(4):
        real = paddle.randn([12, 2]) + 3.0
        fake = generator(paddle.randn([12, 3])).detach()
        c_loss = critic(fake).mean() - critic(real).mean() + 10.0 * penalty(critic, real, fake)
        c_opt.clear_grad()
        c_loss.backward()
        c_opt.step()
        if step % 2 == 1:
            g_loss = -critic(generator(paddle.randn([12, 3]))).mean()
            g_opt.clear_grad()
            g_loss.backward()
            g_opt.step()
            c_opt.clear_grad()


if __name__ == "__main__":
    main()
