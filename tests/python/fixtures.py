"""Holds the families of `twin` against what the paper's own code computed: logits, losses and gradients.

    python fixtures.py parity/ [tiny|d128]
"""

import json
import os
import sys

import torch

from twin import families, files
from twin.parts import LABELS, loss_sum

# The names of the paper's code for its parts of a row of logits, in the order of cwm's.
PARTS = ("pieces", "side", "castle", "ep_file", "ep_rank", "halfmove", "fullmove")
NAMES = {
    "transformer": "transformer",
    "slice_bd8": "slice",
    "slice_diag": "slice_diag",
    "gdn_neg": "gated_deltanet",
    "gdn_pos": "gated_deltanet_pos",
    "mamba2": "mamba2",
    "mamba3_siso": "mamba3",
    "mamba3_mimo4": "mamba3_mimo",
}


def smaller(family, config):
    """What the tiny fixtures have otherwise than the families."""
    if config["d_model"] >= 64:
        return {}
    if family.startswith("mamba"):
        return {"state": config["mamba_d_state"], "head_width": config["mamba_headdim"]}
    if family.startswith("gated"):
        return {"heads": config["n_heads"], "key_width": config["gated_deltanet_head_dim"]}
    return {"heads": config["n_heads"]} if family == "transformer" else {}


def weights(tensors, vocabulary):
    """Parameters by name; tables that are stored as rows are filled up with zeros."""
    found = {name.removeprefix("param."): value for name, value in tensors.items() if name.startswith("param.")}
    for name, rows in tensors.items():
        if name.startswith("param_sparse_rows."):
            name = name.removeprefix("param_sparse_rows.")
            found[name] = torch.zeros(vocabulary, rows.shape[1])
            found[name][tensors[f"param_sparse_index.{name}"]] = rows
    return found


def check(manifest, tensors):
    """Largest error of a valid logit, that of the loss, and the largest of a gradient beside its norm."""
    name, _, tiny = manifest["file"].removesuffix(".safetensors").rpartition("-")
    config, family = manifest["config"], NAMES[name]
    size = f"d{config['d_model']}/l{config['n_layers']}"
    model = families.build(family, size, manifest["move_vocab"], **smaller(family, config))
    model.load_state_dict(weights(tensors, manifest["move_vocab"]))
    model.eval()
    valid = tensors["input.pad_mask"] == 0
    found = families.logits(model, tensors["input.moves"], valid)
    expected = torch.cat([tensors[f"output.{part}"].flatten(2) for part in PARTS], -1)[valid]
    logit = (found - expected).abs().max().item()
    labels = tensors["input.states"].long()[valid]
    loss = loss_sum(found, labels) / (LABELS * len(labels))
    loss.backward()
    # Gradients of the small ones of Gated DeltaNet are ill-conditioned, by design.
    near, worst = (1e-3 if family.startswith("gated") and tiny == "tiny" else 1e-4), 0.0
    for parameter, value in model.named_parameters():
        norm = tensors[f"grad_norm.{parameter}"].item()
        if norm >= 1e-7:
            worst = max(worst, abs(value.grad.norm().item() - norm) / norm)
            if f"grad.{parameter}" in tensors:
                worst = max(worst, (value.grad - tensors[f"grad.{parameter}"]).abs().max().item() / norm)
    loss = abs(loss.item() - tensors["output.loss"].item())
    print(f"{manifest['file']:<30} logits {logit:.1e}  loss {loss:.1e}  gradients {worst:.1e}")
    assert logit <= 3e-5 and loss <= 3e-6 and worst <= near


if __name__ == "__main__":
    folder, only = sys.argv[1], sys.argv[2:]
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        fixtures = json.load(file)["fixtures"]
    fixtures = [fixture for fixture in fixtures if not only or fixture["size"] in only]
    for fixture in fixtures:
        check(fixture, files.tensors(os.path.join(folder, fixture["file"])))
    print(f"{len(fixtures)} fixtures")
