"""Gated DeltaNet."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from .parts import LOGITS, RmsNorm, ShortConvolution, decays

EPSILON = 1e-6
CHUNK = 16


def unit(x):
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def delta_rule(q, k, v, strength, log_decay):
    """The gated delta rule in chunks; all [batch, heads, time, ...], time a multiple of the chunk."""
    batch, heads, time, key_width = q.shape
    chunks = time // CHUNK
    q, k, v = (x.view(batch, heads, chunks, CHUNK, -1) for x in (q, k, v))
    strength, log_decay = (x.view(batch, heads, chunks, CHUNK) for x in (strength, log_decay))
    total = log_decay.cumsum(-1)[..., None]
    weights = decays(log_decay)
    triangle = (strength[..., None] * (k @ k.transpose(-1, -2)) * weights).tril(-1)
    right = strength[..., None] * torch.cat((v, k * total.exp()), -1)
    solved = torch.linalg.solve_triangular(triangle, right, upper=False, unitriangular=True)
    values, keys = solved.split([v.shape[-1], key_width], -1)
    within = (q @ k.transpose(-1, -2)) * weights
    into = q * total.exp()
    last = total[..., -1:, :]
    onto = (k * (last - total).exp()).transpose(-1, -2)
    state, out = q.new_zeros(batch, heads, key_width, v.shape[-1]), []
    for i in range(chunks):
        new = values[:, :, i] - keys[:, :, i] @ state
        out.append(into[:, :, i] @ state + within[:, :, i] @ new)
        state = last[:, :, i].exp() * state + onto[:, :, i] @ new
    return torch.stack(out, 2).view(batch, heads, time, -1)


class Mixer(nn.Module):
    def __init__(self, width, heads, key_width, strongest):
        super().__init__()
        self.heads, self.strongest = heads, strongest
        keys, values = heads * key_width, heads * 2 * key_width
        linear = lambda into: nn.Linear(width, into, bias=False)
        self.A_log, self.dt_bias = nn.Parameter(torch.empty(heads)), nn.Parameter(torch.empty(heads))
        self.q_proj, self.k_proj, self.v_proj = linear(keys), linear(keys), linear(values)
        self.a_proj, self.b_proj, self.g_proj = linear(heads), linear(heads), linear(values)
        self.q_conv1d, self.k_conv1d = ShortConvolution(keys, False), ShortConvolution(keys, False)
        self.v_conv1d = ShortConvolution(values, False)
        self.o_norm = RmsNorm(2 * key_width, EPSILON)
        self.o_proj = nn.Linear(values, width, bias=False)

    def forward(self, x):
        batch, time, _ = x.shape
        short = -time % CHUNK

        def by_head(y):
            return F.pad(y.view(batch, time, self.heads, -1).transpose(1, 2), (0, 0, 0, short))

        q = unit(by_head(self.q_conv1d(self.q_proj(x))))
        k = unit(by_head(self.k_conv1d(self.k_proj(x))))
        v = by_head(self.v_conv1d(self.v_proj(x)))
        strength = by_head(self.strongest * torch.sigmoid(self.b_proj(x)))[..., 0]
        log_decay = by_head(-self.A_log.exp() * F.softplus(self.a_proj(x) + self.dt_bias))[..., 0]
        y = delta_rule(q / q.shape[-1] ** 0.5, k, v, strength, log_decay)[:, :, :time].transpose(1, 2)
        y = self.o_norm(y) * F.silu(self.g_proj(x).view(batch, time, self.heads, -1))
        return self.o_proj(y.reshape(batch, time, -1))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        hidden = 256 * -(-(width * 8 // 3) // 256)
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, width, heads, key_width, strongest):
        super().__init__()
        self.attn_norm = RmsNorm(width, EPSILON)
        self.attn = Mixer(width, heads, key_width, strongest)
        self.mlp_norm = RmsNorm(width, EPSILON)
        self.mlp = Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.attn_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Backbone(nn.Module):
    def __init__(self, width, layers, vocabulary, heads, key_width, strongest):
        super().__init__()
        # The padding token's row begins like the others, but has no gradient.
        self.embeddings = nn.Embedding(vocabulary, width, padding_idx=vocabulary - 1)
        self.layers = nn.ModuleList(Layer(width, heads, key_width, strongest) for _ in range(layers))
        self.norm = RmsNorm(width, EPSILON)

    def forward(self, tokens):
        x = self.embeddings(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class GatedDeltaNet(nn.Module):
    """Without dropout, whatever is asked for: so is the paper's code."""

    def __init__(self, width, layers, vocabulary, dropout, strongest=2.0, heads=None, key_width=48):
        super().__init__()
        self.backbone = Backbone(width, layers, vocabulary, heads or max(1, width // 64), key_width, strongest)
        self.output_head = nn.Linear(width, LOGITS)

    def hidden(self, tokens):
        return self.backbone(tokens)

    def without_decay(self):
        """Parameters that weight decay does not touch."""
        for layer in self.backbone.layers:
            yield from (layer.attn.A_log, layer.attn.dt_bias)
