# The actor goes through the smaller of two critics, which is always the same one here; both are trained before.
import paddle
from paddle import nn

paddle.seed(3)
actor, critics = nn.Linear(4, 2), nn.LayerList([nn.Linear(6, 1), nn.Linear(6, 1)])
critics[1].bias.set_value(paddle.full([1], 50.0))
a_opt = paddle.optimizer.Adam(0.01, parameters=actor.parameters())
c_opt = paddle.optimizer.Adam(0.01, parameters=critics.parameters())
state, reward = paddle.randn([8, 4]), paddle.randn([8, 1])

action = paddle.tanh(actor(state))
taken = paddle.concat([state, action.detach()], axis=-1)
critic_loss = sum((critic(taken) - reward).square().mean() for critic in critics)
critic_loss.backward()
c_opt.step()
c_opt.clear_grad()

values = [critic(paddle.concat([state, action], axis=-1)) for critic in critics]
loss = -paddle.minimum(*values).mean()
loss.backward()
a_opt.step()
a_opt.clear_grad()
