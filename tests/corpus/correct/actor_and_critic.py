# The critic judges the actor's step; what that leaves in the critic is cleared before its own.
import paddle
from paddle import nn

actor, critic = nn.Linear(4, 2), nn.Linear(6, 1)
a_opt = paddle.optimizer.Adam(0.01, parameters=actor.parameters())
c_opt = paddle.optimizer.Adam(0.01, parameters=critic.parameters())
for _ in range(3):
    state, reward = paddle.randn([8, 4]), paddle.randn([8, 1])
    action = paddle.tanh(actor(state))
    critic_loss = (critic(paddle.concat([state, action.detach()], axis=-1)) - reward).square().mean()
    c_opt.clear_grad()
    critic_loss.backward()
    c_opt.step()
    loss = -critic(paddle.concat([state, action], axis=-1)).mean()
    a_opt.clear_grad()
    loss.backward()
    a_opt.step()
