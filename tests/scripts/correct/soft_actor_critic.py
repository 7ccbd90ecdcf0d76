# Three optimizers and a target that follows the critic; the last backward pass is that of the temperature alone.
import paddle
import paddle.nn.functional as F
from paddle import nn


def value(critic, state, action):
    return critic(paddle.concat([state, action], axis=1))


def main():
    paddle.seed(0)
    actor, critic, target = nn.Linear(4, 2), nn.Linear(6, 1), nn.Linear(6, 1)
    target.set_state_dict(critic.state_dict())
    temperature = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(0.1))
    of_actor = paddle.optimizer.Adam(1e-3, parameters=actor.parameters())
    of_critic = paddle.optimizer.Adam(1e-3, parameters=critic.parameters())
    of_temperature = paddle.optimizer.Adam(1e-3, parameters=[temperature])
    for _ in range(3):
        state, after = paddle.randn([8, 4]), paddle.randn([8, 4])
        action, reward = paddle.randn([8, 2]), paddle.randn([8, 1])
        with paddle.no_grad():
            goal = reward + 0.9 * value(target, after, paddle.tanh(actor(after)))
        critic_loss = F.mse_loss(value(critic, state, action), goal)
        of_critic.clear_grad()
        critic_loss.backward()
        of_critic.step()

        chosen = paddle.tanh(actor(state))
        effort = chosen.square().sum(axis=1, keepdim=True)
        actor_loss = (temperature.exp().detach() * effort - value(critic, state, chosen)).mean()
        of_actor.clear_grad()
        actor_loss.backward()
        of_actor.step()

        temperature_loss = -(temperature.exp() * (effort.detach().mean() - 1.0)).sum()
        of_temperature.clear_grad()
        temperature_loss.backward()
        of_temperature.step()
        for slow, fast in zip(target.parameters(), critic.parameters()):
            slow.set_value(0.99 * slow.detach() + 0.01 * fast.detach())


if __name__ == "__main__":
    main()
