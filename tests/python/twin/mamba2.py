"""The mixer of Mamba-2, in its attention form: every step looks at all before it, in a few matrix products."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from .parts import RmsNorm, ShortConvolution, decays


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
        x = x.view(batch, time, self.heads, -1).transpose(1, 2)
        rate = F.softplus(rate + self.dt_bias).transpose(1, 2)
        weights = decays(-self.A_log.exp()[:, None] * rate) * rate[:, :, None, :]
        y = ((queries @ keys.transpose(1, 2))[:, None] * weights) @ x + self.D[:, None, None] * x
        y = y.transpose(1, 2).reshape(batch, time, -1)
        return self.out_proj(self.norm(y * F.silu(gate)))
