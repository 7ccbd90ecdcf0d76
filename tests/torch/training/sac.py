"""Soft actor and critics, after CleanRL's sac_continuous_action."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class SoftQNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 16)
        self.fc2 = nn.Linear(16, 16)
        self.fc3 = nn.Linear(16, 1)

    def forward(self, x, a):
        x = torch.cat([x, a], 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 16)
        self.fc2 = nn.Linear(16, 16)
        self.fc_mean = nn.Linear(16, 2)
        self.fc_logstd = nn.Linear(16, 2)
        self.register_buffer("action_scale", torch.tensor(1.0))
        self.register_buffer("action_bias", torch.tensor(0.0))

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        mean = self.fc_mean(x)
        log_std = torch.tanh(self.fc_logstd(x))
        log_std = -5 + 0.5 * (2 - -5) * (log_std + 1)
        return mean, log_std

    def get_action(self, x):
        mean, log_std = self(x)
        normal = torch.distributions.Normal(mean, log_std.exp())
        x_t = normal.rsample()
        y_t = torch.tanh(x_t)
        action = y_t * self.action_scale + self.action_bias
        log_prob = normal.log_prob(x_t)
        log_prob -= torch.log(self.action_scale * (1 - y_t.pow(2)) + 1e-6)
        log_prob = log_prob.sum(1, keepdim=True)
        return action, log_prob


torch.manual_seed(1)
actor = Actor()
qf1, qf2, qf1_target, qf2_target = SoftQNetwork(), SoftQNetwork(), SoftQNetwork(), SoftQNetwork()
qf1_target.load_state_dict(qf1.state_dict())
qf2_target.load_state_dict(qf2.state_dict())
q_optimizer = optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=1e-3)
actor_optimizer = optim.Adam(list(actor.parameters()), lr=3e-4)
target_entropy = -2.0
log_alpha = torch.zeros(1, requires_grad=True)
alpha = log_alpha.exp().item()
a_optimizer = optim.Adam([log_alpha], lr=1e-3)
for global_step in range(6):
    observations, next_observations = torch.randn(16, 3), torch.randn(16, 3)
    actions, rewards, dones = torch.rand(16, 2) * 2 - 1, torch.randn(16), torch.zeros(16)
    with torch.no_grad():
        next_state_actions, next_state_log_pi = actor.get_action(next_observations)
        qf1_next = qf1_target(next_observations, next_state_actions)
        qf2_next = qf2_target(next_observations, next_state_actions)
        min_qf_next_target = torch.min(qf1_next, qf2_next) - alpha * next_state_log_pi
        next_q_value = rewards.flatten() + (1 - dones.flatten()) * 0.99 * (min_qf_next_target).view(-1)
    qf1_a_values = qf1(observations, actions).view(-1)
    qf2_a_values = qf2(observations, actions).view(-1)
    qf_loss = F.mse_loss(qf1_a_values, next_q_value) + F.mse_loss(qf2_a_values, next_q_value)
    q_optimizer.zero_grad()
    qf_loss.backward()
    q_optimizer.step()
    if global_step % 2 == 0:
        for _ in range(2):
            pi, log_pi = actor.get_action(observations)
            min_qf_pi = torch.min(qf1(observations, pi), qf2(observations, pi))
            actor_loss = ((alpha * log_pi) - min_qf_pi).mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            actor_optimizer.step()
            with torch.no_grad():
                _, log_pi = actor.get_action(observations)
            alpha_loss = (-log_alpha.exp() * (log_pi + target_entropy)).mean()
            a_optimizer.zero_grad()
            alpha_loss.backward()
            a_optimizer.step()
            alpha = log_alpha.exp().item()
    for param, target_param in zip(qf1.parameters(), qf1_target.parameters()):
        target_param.data.copy_(0.005 * param.data + 0.995 * target_param.data)
    for param, target_param in zip(qf2.parameters(), qf2_target.parameters()):
        target_param.data.copy_(0.005 * param.data + 0.995 * target_param.data)
print(qf_loss.item(), actor_loss.item(), alpha)
