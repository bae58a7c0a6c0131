"""What several families are made of."""

import torch
import torch.nn as nn
import torch.nn.functional as F

START, PAD, LOGITS = 20480, 20481, 1878

# The seven kinds of label in the order of their logits: how many labels, with how many classes each.
KINDS = [(64, 13), (1, 2), (4, 2), (1, 9), (1, 3), (2, 256), (2, 256)]
LABELS = sum(labels for labels, _ in KINDS)


class RmsNorm(nn.Module):
    """Root mean square over the last axis, times a weight."""

    def __init__(self, width, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class ShortConvolution(nn.Module):
    """A causal convolution of each channel by itself over four steps, then SiLU: [batch, time, channels] to the same."""

    def __init__(self, channels, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels, 1, 4))
        self.bias = nn.Parameter(torch.empty(channels)) if bias else None

    def forward(self, x):
        x = F.pad(x.transpose(1, 2), (3, 0))
        return F.silu(F.conv1d(x, self.weight, self.bias, groups=len(self.weight))).transpose(1, 2)


def decays(steps):
    """exp of the sum of `steps` [..., time] from j + 1 to i, for i >= j, and 0 elsewhere: [..., time, time].

    The sums are of fp64: over long and steep stretches their differences lose digits in fp32."""
    total = steps.double().cumsum(-1)
    later = torch.ones(steps.shape[-1], steps.shape[-1], dtype=torch.bool, device=steps.device).triu(1)
    return (total[..., :, None] - total[..., None, :]).to(steps.dtype).masked_fill(later, float("-inf")).exp()


def loss_sum(logits, labels):
    """Sum of all cross-entropies of `logits` [rows, 1878] against `labels` [rows, 75]."""
    total, logit, label = 0.0, 0, 0
    for count, classes in KINDS:
        part = logits[:, logit : logit + count * classes].reshape(-1, classes)
        total = total + F.cross_entropy(part, labels[:, label : label + count].reshape(-1), reduction="sum")
        logit, label = logit + count * classes, label + count
    return total


def predicted(logits):
    """The likeliest class of each label, the first of equal ones: [rows, 75]."""
    columns, logit = [], 0
    for count, classes in KINDS:
        part = logits[:, logit : logit + count * classes].reshape(-1, count, classes)
        columns.append(part.argmax(-1))
        logit += count * classes
    return torch.cat(columns, 1)
