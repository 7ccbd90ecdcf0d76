"""Distributions of values, after CleanRL's c51."""
import torch
import torch.nn as nn


class QNetwork(nn.Module):
    def __init__(self, n_atoms=11, v_min=-5, v_max=5):
        super().__init__()
        self.n_atoms = n_atoms
        self.register_buffer("atoms", torch.linspace(v_min, v_max, steps=n_atoms))
        self.n = 2
        self.network = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, self.n * n_atoms))

    def get_action(self, x, action=None):
        logits = self.network(x)
        pmfs = torch.softmax(logits.view(len(x), self.n, self.n_atoms), dim=2)
        q_values = (pmfs * self.atoms).sum(2)
        if action is None:
            action = torch.argmax(q_values, 1)
        return action, pmfs[torch.arange(len(x)), action]


torch.manual_seed(0)
q_network, target_network = QNetwork(), QNetwork()
target_network.load_state_dict(q_network.state_dict())
optimizer = torch.optim.Adam(q_network.parameters(), lr=2.5e-4, eps=0.01 / 32)
for step in range(5):
    observations, next_observations = torch.randn(16, 4), torch.randn(16, 4)
    actions, rewards, dones = torch.randint(0, 2, (16, 1)), torch.randn(16, 1), torch.zeros(16, 1)
    with torch.no_grad():
        _, next_pmfs = target_network.get_action(next_observations)
        next_atoms = rewards + 0.99 * target_network.atoms * (1 - dones)
        delta_z = target_network.atoms[1] - target_network.atoms[0]
        tz = next_atoms.clamp(-5, 5)
        b = (tz + 5) / delta_z
        l, u = b.floor().clamp(0, 10), b.ceil().clamp(0, 10)
        d_m_l = (u + (l == u).float() - b) * next_pmfs
        d_m_u = (b - l) * next_pmfs
        target_pmfs = torch.zeros_like(next_pmfs)
        for i in range(target_pmfs.size(0)):
            target_pmfs[i].index_add_(0, l[i].long(), d_m_l[i])
            target_pmfs[i].index_add_(0, u[i].long(), d_m_u[i])
    _, old_pmfs = q_network.get_action(observations, actions.flatten())
    loss = (-(target_pmfs * old_pmfs.clamp(min=1e-5, max=1 - 1e-5).log()).sum(-1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
