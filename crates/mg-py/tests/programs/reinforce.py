"""Policies: REINFORCE with a categorical distribution, and deep Q-learning with a replay memory and a target network."""

import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Bernoulli, Categorical

from given import start

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class Pole:
    """A pole on a cart, by Euler's method."""

    def reset(self):
        self.state = [0.01, -0.02, 0.03, 0.01]
        return list(self.state)

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        temp = (force + 0.05 * spin**2 * math.sin(angle)) / 1.1
        accel = (9.8 * math.sin(angle) - math.cos(angle) * temp) / (0.5 * (4.0 / 3.0 - 0.1 * math.cos(angle) ** 2 / 1.1))
        pull = temp - 0.05 * accel * math.cos(angle) / 1.1
        self.state = [x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * accel]
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return list(self.state), 1.0, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 16)
        self.affine2 = nn.Linear(16, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


def main():
    eps = torch.finfo(torch.float32).eps
    env, losses = Pole(), []
    policy = start(torch, Policy())
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    for episode in range(2):
        state = env.reset()
        entropy = 0.0
        for t in range(12):
            probs = policy(torch.tensor(state).float().unsqueeze(0))
            m = Categorical(probs)
            assert m.sample().shape == (1,) and m.sample((3,)).shape == (3, 1)
            action = torch.tensor([(t * 7 + episode) // 3 % 2])
            policy.saved_log_probs.append(m.log_prob(action))
            entropy = entropy + m.entropy().mean()
            state, reward, done = env.step(action.item())
            policy.rewards.append(reward)
            if done:
                break
        R, policy_loss, returns = 0, [], deque()
        for r in policy.rewards[::-1]:
            R = r + 0.99 * R
            returns.appendleft(R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + eps)
        for log_prob, R in zip(policy.saved_log_probs, returns):
            policy_loss.append(-log_prob * R)
        optimizer.zero_grad()
        loss = torch.cat(policy_loss).sum() - 0.01 * entropy
        loss.backward()
        optimizer.step()
        del policy.rewards[:]
        del policy.saved_log_probs[:]
        losses += [loss.item(), entropy.item()]
    losses.append(Bernoulli(logits=torch.tensor([0.3, -1.0])).log_prob(torch.tensor([1.0, 0.0])).sum().item())

    random.seed(3)
    n_observations, n_actions = 4, 2
    policy_net = start(torch, nn.Sequential(nn.Linear(n_observations, 16), nn.ReLU(), nn.Linear(16, n_actions)), 1)
    target_net = nn.Sequential(nn.Linear(n_observations, 16), nn.ReLU(), nn.Linear(16, n_actions))
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
    memory = ReplayMemory(100)
    state = torch.tensor(env.reset(), dtype=torch.float32).unsqueeze(0)
    for step in range(24):
        if random.random() > 0.5:
            with torch.no_grad():
                action = policy_net(state).max(1).indices.view(1, 1)
        else:
            action = torch.tensor([[random.randrange(n_actions)]], dtype=torch.long)
        observation, reward, done = env.step(action.item())
        reward = torch.tensor([reward])
        next_state = None if done else torch.tensor(observation, dtype=torch.float32).unsqueeze(0)
        memory.push(state, action, next_state, reward)
        state = torch.tensor(env.reset()).unsqueeze(0) if done else next_state
        if len(memory) < 8:
            continue
        batch = Transition(*zip(*memory.sample(8)))
        non_final_mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), dtype=torch.bool)
        non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
        state_batch, action_batch, reward_batch = torch.cat(batch.state), torch.cat(batch.action), torch.cat(batch.reward)
        state_action_values = policy_net(state_batch).gather(1, action_batch)
        next_state_values = torch.zeros(8)
        with torch.no_grad():
            next_state_values[non_final_mask] = target_net(non_final_next_states).max(1).values
        expected = (next_state_values * 0.99) + reward_batch
        loss = nn.SmoothL1Loss()(state_action_values, expected.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
        optimizer.step()
        target_state = target_net.state_dict()
        policy_state = policy_net.state_dict()
        for key in policy_state:
            target_state[key] = policy_state[key] * 0.005 + target_state[key] * (1 - 0.005)
        target_net.load_state_dict(target_state)
        losses.append(loss.item())
    return losses
