"""The mixer of Mamba-2."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from .parts import RmsNorm, ShortConvolution
from .state_space import chunked

CHUNK = 128


class Convolution(ShortConvolution):
    """As the paper's code names and shapes it, with a bias."""

    def __init__(self, channels):
        super().__init__(channels, True)


class Mamba2(nn.Module):
    def __init__(self, width, state=128, head_width=64):
        super().__init__()
        inner = 2 * width
        self.heads = inner // head_width
        self.split = [inner, inner + 2 * state, self.heads]
        self.parts = [inner, state, state]
        self.in_proj = nn.Linear(width, sum(self.split), bias=False)
        self.conv1d = Convolution(inner + 2 * state)
        self.dt_bias, self.A_log = nn.Parameter(torch.empty(self.heads)), nn.Parameter(torch.empty(self.heads))
        self.D = nn.Parameter(torch.empty(self.heads))
        self.norm = RmsNorm(inner, 1e-5)
        self.out_proj = nn.Linear(inner, width, bias=False)

    def forward(self, u):
        batch, time, _ = u.shape
        gate, convolved, rate = self.in_proj(u).split(self.split, -1)
        x, keys, queries = self.conv1d(convolved).split(self.parts, -1)
        x = x.view(batch, time, self.heads, 1, -1).transpose(1, 2)
        keys, queries = (y.view(batch, 1, time, 1, -1) for y in (keys, queries))
        rate = F.softplus(rate + self.dt_bias).transpose(1, 2)
        steps = -self.A_log.exp()[:, None] * rate
        y = chunked(queries, keys, x, steps, rate, rate, 1, CHUNK) + self.D[:, None, None, None] * x
        y = y.transpose(1, 2).reshape(batch, time, -1)
        gated = self.norm(y * F.silu(gate))
        return self.out_proj(gated)
