# symptom  the generator does not learn
# cause    the generator's loss uses the detached images of the discriminator's step
# command  why generator.weight
# verdict  detached
# line     fake = generator(noise).detach()
import paddle
from paddle import nn

generator, critic = nn.Linear(2, 4), nn.Linear(4, 1)
noise, real = paddle.randn([8, 2]), paddle.randn([8, 4])
fake = generator(noise).detach()
critic_loss = critic(fake).mean() - critic(real).mean()
critic_loss.backward()
loss = -critic(fake).mean()
loss.backward()
