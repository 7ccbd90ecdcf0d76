# Critic and generator in turn; each step uses and clears its own gradients.
import paddle
from paddle import nn

generator, critic = nn.Linear(2, 4), nn.Linear(4, 1)
g_opt = paddle.optimizer.SGD(0.01, parameters=generator.parameters())
c_opt = paddle.optimizer.SGD(0.01, parameters=critic.parameters())
for _ in range(2):
    noise, real = paddle.randn([8, 2]), paddle.randn([8, 4])
    c_loss = critic(generator(noise).detach()).mean() - critic(real).mean()
    c_opt.clear_grad()
    c_loss.backward()
    c_opt.step()
    loss = -critic(generator(noise)).mean()
    g_opt.clear_grad()
    loss.backward()
    g_opt.step()
