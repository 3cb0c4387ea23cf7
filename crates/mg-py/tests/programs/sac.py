"""Soft actor-critic: squashed Gaussian policy, twin critics, Polyak averages, a temperature that is learnt."""

import copy
import itertools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal, TransformedDistribution
from torch.distributions.transforms import AffineTransform, ComposeTransform, TanhTransform

from given import normals, start

LOG_SIG_MAX, LOG_SIG_MIN, epsilon = 2, -20, 1e-6


def weights_init_(m):
    if isinstance(m, nn.Linear):
        torch.nn.init.xavier_uniform_(m.weight, gain=1)
        torch.nn.init.constant_(m.bias, 0)


class QNetwork(nn.Module):
    def __init__(self, num_inputs, num_actions, hidden_dim):
        super(QNetwork, self).__init__()
        self.linear1 = nn.Linear(num_inputs + num_actions, hidden_dim)
        self.linear2 = nn.Linear(hidden_dim, 1)
        self.linear3 = nn.Linear(num_inputs + num_actions, hidden_dim)
        self.linear4 = nn.Linear(hidden_dim, 1)
        self.apply(weights_init_)

    def forward(self, state, action):
        xu = torch.cat([state, action], 1)
        return self.linear2(F.relu(self.linear1(xu))), self.linear4(F.relu(self.linear3(xu)))


class GaussianPolicy(nn.Module):
    def __init__(self, num_inputs, num_actions, hidden_dim):
        super(GaussianPolicy, self).__init__()
        self.linear1 = nn.Linear(num_inputs, hidden_dim)
        self.mean_linear = nn.Linear(hidden_dim, num_actions)
        self.log_std_linear = nn.Linear(hidden_dim, num_actions)
        self.apply(weights_init_)
        self.action_scale = torch.FloatTensor([2.0, 0.5])
        self.action_bias = torch.FloatTensor([0.0, 0.1])

    def forward(self, state):
        x = F.relu(self.linear1(state))
        return self.mean_linear(x), torch.clamp(self.log_std_linear(x), min=LOG_SIG_MIN, max=LOG_SIG_MAX)

    def sample(self, state, noise):
        mean, log_std = self.forward(state)
        std = log_std.exp()
        normal = Normal(mean, std)
        assert normal.rsample().requires_grad == std.requires_grad
        x_t = mean + std * noise
        y_t = torch.tanh(x_t)
        action = y_t * self.action_scale + self.action_bias
        log_prob = normal.log_prob(x_t)
        log_prob -= torch.log(self.action_scale * (1 - y_t.pow(2)) + epsilon)
        log_prob = log_prob.sum(1, keepdim=True)
        squashed = TransformedDistribution(
            Independent(normal, 1), [TanhTransform(cache_size=1), AffineTransform(self.action_bias, self.action_scale, event_dim=1)]
        )
        again = squashed.log_prob(action.detach().clamp(-1.7, 0.59))
        assert ComposeTransform([TanhTransform(), AffineTransform(0.0, 2.0)]).sign == 1
        return action, log_prob, torch.tanh(mean) * self.action_scale + self.action_bias, again

    def to(self, device):
        self.action_scale = self.action_scale.to(device)
        self.action_bias = self.action_bias.to(device)
        return super(GaussianPolicy, self).to(device)


def main():
    device = torch.device("cpu")
    critic = start(torch, QNetwork(3, 2, 8), 1).to(device)
    critic_target = copy.deepcopy(critic)
    for p in critic_target.parameters():
        p.requires_grad = False
    policy = start(torch, GaussianPolicy(3, 2, 8), 2).to(device)
    critic_optim = torch.optim.Adam(critic.parameters(), lr=3e-3)
    policy_optim = torch.optim.Adam(itertools.chain(policy.parameters()), lr=3e-3)
    target_entropy = -torch.prod(torch.Tensor((2,)).to(device)).item()
    log_alpha = torch.zeros(1, requires_grad=True, device=device)
    alpha_optim = torch.optim.Adam([log_alpha], lr=3e-2)
    alpha, out = log_alpha.exp(), []
    for i in range(4):
        state_batch = torch.FloatTensor(np.array(normals(i, 6, 3))).to(device)
        action_batch = torch.FloatTensor(np.tanh(normals(10 + i, 6, 2))).to(device)
        next_state_batch = torch.FloatTensor(np.array(normals(20 + i, 6, 3))).to(device)
        reward_batch = torch.FloatTensor(np.array(normals(30 + i, 6))).to(device).unsqueeze(1)
        mask_batch = torch.FloatTensor(np.arange(6) % 3 != 0).to(device).unsqueeze(1)
        with torch.no_grad():
            next_action, next_log_pi, _, _ = policy.sample(next_state_batch, torch.tensor(normals(40 + i, 6, 2)))
            q1, q2 = critic_target(next_state_batch, next_action)
            min_qf = torch.min(q1, q2) - alpha * next_log_pi
            next_q = reward_batch + mask_batch * 0.99 * min_qf
        qf1, qf2 = critic(state_batch, action_batch)
        qf_loss = F.mse_loss(qf1, next_q) + F.mse_loss(qf2, next_q)
        critic_optim.zero_grad()
        qf_loss.backward()
        critic_optim.step()
        pi, log_pi, _, again = policy.sample(state_batch, torch.tensor(normals(50 + i, 6, 2)))
        for p in critic.parameters():
            p.requires_grad_(False)
        policy_loss = ((alpha.detach() * log_pi) - torch.min(*critic(state_batch, pi))).mean()
        policy_optim.zero_grad()
        policy_loss.backward()
        policy_optim.step()
        for p in critic.parameters():
            p.requires_grad_(True)
        alpha_loss = -(log_alpha * (log_pi + target_entropy).detach()).mean()
        alpha_optim.zero_grad()
        alpha_loss.backward()
        alpha_optim.step()
        alpha = log_alpha.exp()
        for target_param, param in zip(critic_target.parameters(), critic.parameters()):
            target_param.data.copy_(target_param.data * (1.0 - 0.05) + param.data * 0.05)
        out += [qf_loss.item(), policy_loss.item(), alpha.item(), again.mean().item()]
    return out
