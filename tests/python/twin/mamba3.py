"""The mixer of Mamba-3, of one rank or of several."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from .parts import RmsNorm
from .state_space import chunked

# Steps of a chunk of one rank, and of several ranks by their number; the fastest on a processor.
CHUNK, CHUNK_OF_RANKS = 128, 64


class Mamba3(nn.Module):
    def __init__(self, width, rank=1, state=128, head_width=64):
        super().__init__()
        inner = 2 * width
        heads = inner // head_width
        self.heads, self.rank, self.state, self.head_width = heads, rank, state, head_width
        self.split = [inner, inner, state * rank, state * rank, heads, heads, heads, state // 4]
        self.in_proj = nn.Linear(width, sum(self.split), bias=False)
        self.dt_bias, self.D = nn.Parameter(torch.empty(heads)), nn.Parameter(torch.empty(heads))
        self.B_bias = nn.Parameter(torch.empty(heads, rank, state))
        self.C_bias = nn.Parameter(torch.empty(heads, rank, state))
        self.B_norm, self.C_norm = RmsNorm(state, 1e-5), RmsNorm(state, 1e-5)
        if rank > 1:
            self.mimo_x = nn.Parameter(torch.empty(heads, rank, head_width))
            self.mimo_z = nn.Parameter(torch.empty(heads, rank, head_width))
            self.mimo_o = nn.Parameter(torch.empty(heads, rank, head_width))
        self.out_proj = nn.Linear(inner, width, bias=False)

    def forward(self, u):
        batch, time, _ = u.shape
        z, x, keys, queries, rate, decay, trap, angle = self.in_proj(u).split(self.split, -1)
        rate = F.softplus(rate + self.dt_bias).transpose(1, 2)
        decay = (-F.softplus(decay)).clamp(max=-1e-4).transpose(1, 2)
        trap = trap.sigmoid().transpose(1, 2)
        # What step j adds to later states comes in two parts: its own, and with the step after it.
        own = trap * rate
        carried = own + F.pad(((1.0 - trap) * rate)[..., 1:], (0, 1))

        turned = (math.pi * angle.tanh())[:, None] * rate[..., None]
        turned = turned.double().cumsum(2).to(u.dtype)[:, :, :, None]
        turns = turned.cos(), turned.sin()
        by_rank = (batch, time, self.rank, self.state)
        k = self.rotate(self.B_norm(keys.view(by_rank))[:, None] + self.B_bias[:, None], turns)
        q = self.rotate(self.C_norm(queries.view(by_rank))[:, None] + self.C_bias[:, None], turns)
        x, z = (y.view(batch, time, self.heads, 1, -1).transpose(1, 2) for y in (x, z))
        v = x * self.mimo_x[:, None] if self.rank > 1 else x
        chunk = CHUNK if self.rank == 1 else CHUNK_OF_RANKS // self.rank
        y = chunked(q, k, v, rate * decay, carried, own, self.rank, chunk)
        y = y + self.D[:, None, None, None] * v
        y = y * F.silu(z * self.mimo_z[:, None]) * self.mimo_o[:, None] if self.rank > 1 else y * F.silu(z)
        return self.out_proj(y.sum(3).transpose(1, 2).reshape(batch, time, -1))

    def rotate(self, x, turns):
        """Of several ranks channels turn with those half the state away, of one rank with their neighbours."""
        cosines, sines = turns
        quarter = self.state // 4
        if self.rank > 1:
            a, rest, b, end = x.split(quarter, -1)
            return torch.cat((a * cosines - b * sines, rest, a * sines + b * cosines, end), -1)
        a, b = x[..., : 2 * quarter].unflatten(-1, (quarter, 2)).unbind(-1)
        turned = torch.stack((a * cosines - b * sines, a * sines + b * cosines), -1).flatten(-2)
        return torch.cat((turned, x[..., 2 * quarter :]), -1)
