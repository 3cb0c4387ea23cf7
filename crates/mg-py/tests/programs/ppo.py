"""PPO on a pole that is to be balanced: vectorised rollouts, generalised advantages, clipped losses, annealed learning rate (after CleanRL)."""

import math
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical
from torch.distributions.normal import Normal

from given import start


class Pole:
    """Poles on carts, with the equations of Barto, Sutton and Anderson."""

    def __init__(self, n):
        self.n, self.steps = n, np.zeros(n, dtype=np.int64)
        self.state = np.linspace(-0.04, 0.04, n * 4).reshape(n, 4).astype(np.float32)

    def reset(self):
        return self.state.copy(), {}

    def step(self, action):
        x, v, a, w = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        temp = (force + 0.05 * w**2 * np.sin(a)) / 1.1
        acc = (9.8 * np.sin(a) - np.cos(a) * temp) / (0.5 * (4 / 3 - 0.1 * np.cos(a) ** 2 / 1.1))
        xacc = temp - 0.05 * acc * np.cos(a) / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * xacc, a + 0.02 * w, w + 0.02 * acc], axis=1).astype(np.float32)
        self.steps += 1
        done = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.2095) | (self.steps >= 50)
        for i in np.nonzero(done)[0]:
            self.state[i] = 0.01 * (i + 1)
            self.steps[i] = 0
        return self.state.copy(), np.ones(self.n, dtype=np.float32), done, {}


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(4, 16)), nn.Tanh(), layer_init(nn.Linear(16, 16)), nn.Tanh(), layer_init(nn.Linear(16, 1), std=1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(4, 16)), nn.Tanh(), layer_init(nn.Linear(16, 16)), nn.Tanh(), layer_init(nn.Linear(16, 2), std=0.01))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None, greedy=None):
        logits = self.actor(x)
        probs = Categorical(logits=logits)
        if action is None:
            assert probs.sample().shape == x.shape[:1]
            action = (probs.probs[:, 1] > greedy).long()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


def main():
    torch.manual_seed(1)
    torch.backends.cudnn.deterministic = True
    device = torch.device("cuda" if torch.cuda.is_available() and False else "cpu")
    num_envs, num_steps, epochs, minibatches, total = 4, 16, 2, 2, 2
    batch_size = num_envs * num_steps
    envs = Pole(num_envs)
    agent = start(torch, Agent()).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)
    obs = torch.zeros((num_steps, num_envs) + (4,)).to(device)
    actions = torch.zeros((num_steps, num_envs)).to(device)
    logprobs = torch.zeros((num_steps, num_envs)).to(device)
    rewards = torch.zeros((num_steps, num_envs)).to(device)
    dones = torch.zeros((num_steps, num_envs)).to(device)
    values = torch.zeros((num_steps, num_envs)).to(device)
    next_obs = torch.Tensor(envs.reset()[0]).detach().to(device)
    next_done = torch.zeros(num_envs).to(device)
    uniform = np.random.RandomState(3)
    returned = deque(maxlen=5)
    out = []
    for update in range(1, total + 1):
        frac = 1.0 - (update - 1.0) / total
        optimizer.param_groups[0]["lr"] = frac * 2.5e-3
        for step in range(num_steps):
            obs[step] = next_obs
            dones[step] = next_done
            with torch.no_grad():
                greedy = torch.as_tensor(uniform.rand(num_envs), dtype=torch.float32)
                action, logprob, _, value = agent.get_action_and_value(next_obs, greedy=greedy)
                values[step] = value.flatten()
            actions[step] = action
            logprobs[step] = logprob
            next_obs, reward, done, info = envs.step(action.cpu().numpy())
            rewards[step] = torch.tensor(reward).to(device).view(-1)
            next_obs, next_done = torch.Tensor(next_obs).detach().to(device), torch.Tensor(done.astype(np.float32)).detach().to(device)
        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages = torch.zeros_like(rewards).to(device)
            lastgaelam = 0
            for t in reversed(range(num_steps)):
                if t == num_steps - 1:
                    nextnonterminal = 1.0 - next_done
                    nextvalues = next_value
                else:
                    nextnonterminal = 1.0 - dones[t + 1]
                    nextvalues = values[t + 1]
                delta = rewards[t] + 0.99 * nextvalues * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + 0.99 * 0.95 * nextnonterminal * lastgaelam
            returns = advantages + values
        b_obs = obs.reshape((-1,) + (4,))
        b_logprobs = logprobs.reshape(-1)
        b_actions = actions.reshape((-1,))
        b_advantages = advantages.reshape(-1)
        b_returns = returns.reshape(-1)
        b_values = values.reshape(-1)
        b_inds = np.arange(batch_size)
        clipfracs = []
        for epoch in range(epochs):
            uniform.shuffle(b_inds)
            for begin in range(0, batch_size, batch_size // minibatches):
                mb_inds = b_inds[begin : begin + batch_size // minibatches]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions.long()[mb_inds])
                logratio = newlogprob - b_logprobs[mb_inds]
                ratio = logratio.exp()
                with torch.no_grad():
                    old_approx_kl = (-logratio).mean()
                    approx_kl = ((ratio - 1) - logratio).mean()
                    clipfracs += [((ratio - 1.0).abs() > 0.2).float().mean().item()]
                mb_advantages = b_advantages[mb_inds]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                pg_loss = torch.max(-mb_advantages * ratio, -mb_advantages * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)).mean()
                newvalue = newvalue.view(-1)
                v_loss_unclipped = (newvalue - b_returns[mb_inds]) ** 2
                v_clipped = b_values[mb_inds] + torch.clamp(newvalue - b_values[mb_inds], -0.2, 0.2)
                v_loss = 0.5 * torch.max(v_loss_unclipped, (v_clipped - b_returns[mb_inds]) ** 2).mean()
                entropy_loss = entropy.mean()
                loss = pg_loss - 0.01 * entropy_loss + v_loss * 0.5
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        y_pred, y_true = b_values.cpu().numpy(), b_returns.cpu().numpy()
        var_y = np.var(y_true)
        explained_var = np.nan if var_y == 0 else 1 - np.var(y_true - y_pred) / var_y
        returned.append(float(explained_var))
        out += [v_loss.item(), pg_loss.item(), entropy_loss.item(), old_approx_kl.item() * 100, approx_kl.item() * 100, np.mean(clipfracs)]
    policy = Normal(torch.zeros(2), torch.ones(2) * math.exp(-0.5))
    return out + list(returned) + [policy.log_prob(torch.tensor([0.1, -0.3])).sum(-1).item()]
