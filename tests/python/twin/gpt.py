"""The GPT of nanoGPT, without biases."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from .parts import LOGITS


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class Block(nn.Module):
    def __init__(self, width, heads, dropout, causal):
        super().__init__()
        self.heads, self.dropout, self.causal = heads, dropout, causal
        self.ln_1, self.ln_2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.attn = nn.ModuleDict({"c_attn": linear(width, 3 * width), "c_proj": linear(width, width)})
        self.mlp = nn.ModuleDict({"c_fc": linear(width, 4 * width), "c_proj": linear(4 * width, width)})
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        batch, time, width = x.shape
        qkv = self.attn["c_attn"](self.ln_1(x)).view(batch, time, 3, self.heads, width // self.heads)
        p = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4), is_causal=self.causal, dropout_p=p)
        x = x + self.drop(self.attn["c_proj"](y.transpose(1, 2).reshape(batch, time, width)))
        return x + self.drop(self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x)))))


class Gpt(nn.Module):
    def __init__(self, width, layers, vocabulary, dropout, outputs=LOGITS, positions=1024, causal=True):
        super().__init__()
        heads = max(1, width // (32 if width < 512 else 64))
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList(Block(width, heads, dropout, causal) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width, bias=False)
        self.output_head = linear(width, outputs)

    def without_decay(self):
        return (module.weight for module in self.modules() if isinstance(module, nn.LayerNorm))

    def hidden(self, tokens):
        x = self.drop(self.wte(tokens) + self.wpe.weight[: tokens.shape[1]])
        for block in self.h:
            x = block(x)
        return self.ln_f(x)
