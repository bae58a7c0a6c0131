"""What surrounds the mixers of Mamba-2 and Mamba-3."""

import torch.nn as nn
import torch.nn.functional as F

from .mamba2 import Mamba2
from .mamba3 import Mamba3
from .parts import LOGITS, RmsNorm

EPSILON = 1e-5


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        hidden = 128 * -(-4 * width // 128)
        self.fc1 = nn.Linear(width, 2 * hidden, bias=False)
        self.fc2 = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        value, gate = self.fc1(x).chunk(2, -1)
        return self.fc2(value * F.silu(gate))


class Layer(nn.Module):
    def __init__(self, width, mixer):
        super().__init__()
        self.norm = RmsNorm(width, EPSILON)
        self.mixer = mixer
        self.norm2 = RmsNorm(width, EPSILON)
        self.mlp = Mlp(width)

    def forward(self, x):
        x = x + self.mixer(self.norm(x))
        return x + self.mlp(self.norm2(x))


class Mamba(nn.Module):
    def __init__(self, width, layers, vocabulary, dropout, variant, **of_mixer):
        super().__init__()
        mixer = {"mamba2": Mamba2, "mamba3": Mamba3}[variant]
        self.embedding = nn.Embedding(vocabulary, width)
        self.drop = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(width, mixer(width, **of_mixer)) for _ in range(layers))
        self.final_norm = RmsNorm(width, EPSILON)
        self.output_head = nn.Linear(width, LOGITS)

    def hidden(self, tokens):
        x = self.drop(self.embedding(tokens))
        for layer in self.layers:
            x = layer(x)
        return self.final_norm(x)
