"""The families by name."""

from functools import partial

from .gated_deltanet import GatedDeltaNet
from .gpt import Gpt
from .mamba import Mamba
from .parts import LABELS, loss_sum
from .structured import Slice
from .transformer import Transformer

FAMILIES = {
    "transformer": Transformer,
    "slice": Slice,
    "slice_diag": partial(Slice, block=1),
    "mamba2": partial(Mamba, variant="mamba2"),
    "mamba3": partial(Mamba, variant="mamba3"),
    "mamba3_mimo": partial(Mamba, variant="mamba3", rank=4),
    "gated_deltanet": GatedDeltaNet,
    "gated_deltanet_pos": partial(GatedDeltaNet, strongest=1.0),
    "gpt": Gpt,
}


def build(family, size, vocabulary=20482, dropout=0.0, **more):
    """A model of this family and size, such as d128/l1; its parameters are to be loaded."""
    width, layers = (int(part[1:]) for part in size.split("/"))
    return FAMILIES[family](width, layers, vocabulary, dropout, **more)


def logits(model, tokens, valid=None):
    """Logits [rows, 1878] of all positions of `tokens` [batch, time], or of those where `valid` is true."""
    hidden = model.hidden(tokens)
    return model.output_head(hidden.flatten(0, 1) if valid is None else hidden[valid])


def loss(model, tokens, labels, valid=None):
    """Mean cross-entropy of a label, `labels` being those of the rows of `logits`."""
    return loss_sum(logits(model, tokens, valid), labels) / (LABELS * len(labels))
