"""The Transformer."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from .parts import LOGITS, RmsNorm

EPSILON = 1e-6


def positions(time, width, like):
    """Cosines and sines [time, width]. Angles lie in two halves, though partners are neighbours: no rotation, but so
    the paper's code has it. It also has them in fp32, whatever the rest is in."""
    frequency = (10000.0 ** (-2.0 * torch.arange(width // 2, dtype=torch.float64) / width)).float()
    angle = torch.arange(time, dtype=torch.float32)[:, None] * torch.cat((frequency, frequency))
    return angle.double().cos().to(like), angle.double().sin().to(like)


def turn(x, cosines, sines):
    partner = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * cosines + partner * sines


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.qkv(x).view(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        cosines, sines = positions(time, width // self.heads, x)
        p = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(
            turn(q, cosines, sines), turn(k, cosines, sines), v, is_causal=True, dropout_p=p
        )
        return self.out_proj(y.transpose(1, 2).reshape(batch, time, width))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.in_proj = nn.Linear(width, 8 * width)
        self.out_proj = nn.Linear(4 * width, width)

    def forward(self, x):
        gate, value = self.in_proj(x).chunk(2, -1)
        return self.out_proj(F.silu(gate) * value)


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm1 = RmsNorm(width, EPSILON)
        self.attn = Attention(width, heads, dropout)
        self.norm2 = RmsNorm(width, EPSILON)
        self.mlp = Mlp(width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.attn(self.norm1(x)))
        return x + self.drop(self.mlp(self.norm2(x)))


class Transformer(nn.Module):
    def __init__(self, width, layers, vocabulary, dropout, heads=None):
        super().__init__()
        heads = heads or max(1, width // 64)
        self.tok_emb = nn.Embedding(vocabulary, width)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.final_norm = RmsNorm(width, EPSILON)
        self.output_head = nn.Linear(width, LOGITS)

    def hidden(self, tokens):
        x = self.drop(self.tok_emb(tokens))
        for block in self.blocks:
            x = block(x)
        return self.final_norm(x)
