"""Deep Q-learning: a replay memory, a target network that follows softly, smooth L1 loss, gradients clipped by value (the tutorial's)."""

import math
import random
from collections import deque, namedtuple
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

from given import start

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
device = torch.device("cuda" if torch.cuda.is_available() and False else "mps" if torch.backends.mps.is_available() else "cpu")


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super(DQN, self).__init__()
        self.layer1 = nn.Linear(n_observations, 16)
        self.layer2 = nn.Linear(16, 16)
        self.layer3 = nn.Linear(16, n_actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


class Walk:
    """Steps to the left and right on a line, with a reward at its ends."""

    def reset(self):
        self.x, self.t = 0.0, 0
        return [self.x, 0.0, 1.0]

    def step(self, action):
        self.x += (0.3, -0.2, 0.05)[action]
        self.t += 1
        done = abs(self.x) > 1 or self.t > 8
        return [self.x, self.t / 8, 1.0], (1.0 if self.x > 1 else -0.1), done


BATCH_SIZE, GAMMA, TAU = 8, 0.99, 0.05


def main():
    random.seed(4)
    torch.manual_seed(4)
    env = Walk()
    policy_net = start(torch, DQN(3, 3)).to(device)
    target_net = DQN(3, 3).to(device)
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = optim.AdamW(policy_net.parameters(), lr=1e-2, amsgrad=True)
    memory = ReplayMemory(1000)
    steps_done, losses, durations = 0, [], []

    def select_action(state):
        nonlocal steps_done
        eps_threshold = 0.05 + 0.85 * math.exp(-1.0 * steps_done / 30)
        steps_done += 1
        if random.random() > eps_threshold:
            with torch.no_grad():
                return policy_net(state).max(1).indices.view(1, 1)
        return torch.tensor([[random.randrange(3)]], device=device, dtype=torch.long)

    def optimize_model():
        if len(memory) < BATCH_SIZE:
            return
        transitions = memory.sample(BATCH_SIZE)
        batch = Transition(*zip(*transitions))
        non_final_mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), device=device, dtype=torch.bool)
        non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
        state_batch = torch.cat(batch.state)
        action_batch = torch.cat(batch.action)
        reward_batch = torch.cat(batch.reward)
        state_action_values = policy_net(state_batch).gather(1, action_batch)
        next_state_values = torch.zeros(BATCH_SIZE, device=device)
        with torch.no_grad():
            next_state_values[non_final_mask] = target_net(non_final_next_states).max(1).values
        expected_state_action_values = (next_state_values * GAMMA) + reward_batch
        criterion = nn.SmoothL1Loss()
        loss = criterion(state_action_values, expected_state_action_values.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
        optimizer.step()
        losses.append(loss.item())

    for i_episode in range(6):
        state = torch.tensor(env.reset(), dtype=torch.float32, device=device).unsqueeze(0)
        for t in count():
            action = select_action(state)
            observation, reward, done = env.step(action.item())
            reward = torch.tensor([reward], device=device)
            next_state = None if done else torch.tensor(observation, dtype=torch.float32, device=device).unsqueeze(0)
            memory.push(state, action, next_state, reward)
            state = next_state
            optimize_model()
            target_net_state_dict = target_net.state_dict()
            policy_net_state_dict = policy_net.state_dict()
            for key in policy_net_state_dict:
                target_net_state_dict[key] = policy_net_state_dict[key] * TAU + target_net_state_dict[key] * (1 - TAU)
            target_net.load_state_dict(target_net_state_dict)
            if done:
                durations.append(t + 1)
                break
    durations_t = torch.tensor(durations, dtype=torch.float)
    means = durations_t.unfold(0, 3, 1).mean(1).view(-1)
    means = torch.cat((torch.zeros(2), means))
    return losses[::6] + means.numpy().tolist() + [sum(p.abs().sum().item() for p in target_net.parameters())]
