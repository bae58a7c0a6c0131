"""SLiCE, with blocks and with a diagonal."""

import torch
import torch.nn as nn

from .parts import LOGITS, RmsNorm

EPSILON = 1e-6
# Of the presets with which the paper's numbers were made.
SCALE = 0.1


class Recurrence(nn.Module):
    """A controlled differential equation in steps of its input: y = (I + A) y + c."""

    def __init__(self, width, block):
        super().__init__()
        self.block = block
        self.init = nn.Parameter(torch.empty(width))
        self.vf_A = nn.Linear(width + 1, width * block, bias=False)
        self.vf_B = nn.Linear(width + 1, width, bias=False)

    def forward(self, u):
        batch, time, width = u.shape
        steps = torch.diff(u, dim=1, prepend=torch.zeros_like(u[:, :1]))
        z = SCALE * torch.cat((torch.ones_like(u[..., :1]), steps), -1)
        a, c = self.vf_A(z), self.vf_B(z)
        if self.block == 1:
            return self.diagonal(1.0 + a, c)
        blocks = width // self.block
        transitions = a.view(batch, time, blocks, self.block, self.block)
        transitions = transitions + torch.eye(self.block, dtype=u.dtype, device=u.device)
        return self.blocks(transitions, c.view(batch, time, blocks, self.block))

    def diagonal(self, transitions, added):
        y, states = self.init, []
        for transition, c in zip(transitions.unbind(1), added.unbind(1)):
            y = torch.addcmul(c, transition, y)
            states.append(y)
        return torch.stack(states, 1)

    def blocks(self, transitions, added):
        batch, time, blocks, size = added.shape
        # One batch of small products a step; all that needs no state was computed before the loop.
        transitions = transitions.transpose(0, 1).reshape(time, batch * blocks, size, size)
        added = added.transpose(0, 1).reshape(time, batch * blocks, size, 1)
        y, states = self.init.view(1, blocks, size, 1).expand(batch, -1, -1, -1).reshape(-1, size, 1), []
        for transition, c in zip(transitions, added):
            y = torch.baddbmm(c, transition, y)
            states.append(y)
        return torch.stack(states).view(time, batch, blocks * size).transpose(0, 1)


class Layer(nn.Module):
    def __init__(self, width, block, dropout):
        super().__init__()
        self.slice = Recurrence(width, block)
        self.norm1 = RmsNorm(width, EPSILON)
        self.norm2 = RmsNorm(width, EPSILON)
        self.token_mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.slice(self.norm1(x)))
        return x + self.drop(self.token_mlp(self.norm2(x)))


class Slice(nn.Module):
    def __init__(self, width, layers, vocabulary, dropout, block=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.drop = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(width, block, dropout) for _ in range(layers))
        self.output_head = nn.Linear(width, LOGITS)

    def hidden(self, tokens):
        x = self.drop(self.embedding(tokens))
        for layer in self.layers:
            x = layer(x)
        return x
