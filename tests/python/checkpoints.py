"""Files of torch.save, as training programs write them, for the tests of `cwm model import`.

    checkpoints.py small DIR            the smallest model in both forms of torch.save (kept in crates/foreign/tests/data)
    checkpoints.py gpt2 DIR             a GPT-2 of 72 words as `transformers` saves it (kept in crates/foreign/tests/data)
    checkpoints.py wrap WEIGHTS DIR     the weights of a safetensors file in every form and company that we can think of
    checkpoints.py compare A B          whether two safetensors files hold the same bits under the same names
"""

import argparse
import collections
import dataclasses
import pathlib
import sys

import numpy
import torch


@dataclasses.dataclass
class Settings:
    """A class that only this program knows."""

    arch: str = "slice"
    n_heads: int = 2
    dropout: float = 0.25
    where: pathlib.Path = pathlib.Path("runs/1")


class Average:
    """An object of a training program that holds tensors, and itself."""

    def __init__(self, weights):
        self.shadow = {name: tensor * 0.5 for name, tensor in list(weights.items())[:2]}
        self.decay = 0.999
        self.myself = self


def small():
    """The parameters of the diagonal SLiCE of width 1 with three tokens; every second tensor is no float32."""
    shapes = {
        "embedding.weight": [3, 1],
        "layers.0.slice.init": [1],
        "layers.0.slice.vf_A.weight": [1, 2],
        "layers.0.slice.vf_B.weight": [1, 2],
        "layers.0.norm1.weight": [1],
        "layers.0.norm2.weight": [1],
        "layers.0.token_mlp.0.weight": [4, 1],
        "layers.0.token_mlp.0.bias": [4],
        "layers.0.token_mlp.2.weight": [1, 4],
        "layers.0.token_mlp.2.bias": [1],
        "output_head.weight": [1878, 1],
        "output_head.bias": [1878],
    }
    kinds = {"layers.0.slice.vf_A.weight": torch.float64, "output_head.weight": torch.bfloat16, "output_head.bias": torch.float16}
    weights = collections.OrderedDict()
    for index, (name, shape) in enumerate(shapes.items()):
        count = torch.Size(shape).numel()
        values = (torch.arange(count) * 37 % 64 - 32).to(torch.float32) / (64 * (index + 1))
        weights[name] = values.to(torch.bfloat16).to(kinds.get(name, torch.float32)).reshape(shape)
    # The same numbers, but one behind the other in another order.
    turned = weights["layers.0.token_mlp.0.weight"]
    weights["layers.0.token_mlp.0.weight"] = torch.stack([turned[:, 0], turned[:, 0]]).t()[:, :1]
    return weights


def gpt2():
    """A GPT-2 of width 2 with one layer, eight positions and 72 words: matrices [in, out], the mask, the head that is the table."""
    block = "transformer.h.0."
    shapes = {
        "transformer.wte.weight": [72, 2],
        "transformer.wpe.weight": [8, 2],
        block + "ln_1.weight": [2],
        block + "ln_1.bias": [2],
        block + "attn.c_attn.weight": [2, 6],
        block + "attn.c_attn.bias": [6],
        block + "attn.c_proj.weight": [2, 2],
        block + "attn.c_proj.bias": [2],
        block + "ln_2.weight": [2],
        block + "ln_2.bias": [2],
        block + "mlp.c_fc.weight": [2, 8],
        block + "mlp.c_fc.bias": [8],
        block + "mlp.c_proj.weight": [8, 2],
        block + "mlp.c_proj.bias": [2],
        "transformer.ln_f.weight": [2],
        "transformer.ln_f.bias": [2],
    }
    weights = collections.OrderedDict()
    for index, (name, shape) in enumerate(shapes.items()):
        values = (torch.arange(torch.Size(shape).numel()) * 37 % 64 - 32).to(torch.float32) / (64 * (index + 1))
        weights[name] = values.reshape(shape)
    weights[block + "attn.bias"] = torch.ones(8, 8, dtype=torch.uint8).tril().reshape(1, 1, 8, 8)
    weights[block + "attn.masked_bias"] = torch.tensor(-1e4)
    weights["lm_head.weight"] = weights["transformer.wte.weight"]
    return weights


def checkpoint(weights):
    """What a training program keeps."""
    parameter = torch.nn.Parameter(next(iter(weights.values())).clone().float())
    optimiser = torch.optim.AdamW([parameter], lr=1e-3)
    parameter.sum().backward()
    optimiser.step()
    return {
        "model_state_dict": weights,
        "optimizer_state_dict": optimiser.state_dict(),
        "step": 77,
        "loss": numpy.float64(1.25),
        "config": argparse.Namespace(slice_scale=0.1, dropout=0.25, note=None, folder=pathlib.PurePosixPath("a/b")),
        "rng": {"numpy": numpy.random.RandomState(0).get_state()[1][:4], "torch": torch.arange(8, dtype=torch.uint8)},
        "history": [(1, 2.0), (2, 1.5)],
        "seen": {1, 2, 3},
        "big": 1 << 100,
    }


def write_small(folder):
    weights = small()
    torch.save(checkpoint(weights), folder / "archive.pt")
    torch.save(checkpoint(weights), folder / "legacy.pt", _use_new_zipfile_serialization=False)


class Module(torch.nn.Module):
    """A module with these parameters."""

    def __init__(self, weights):
        super().__init__()
        for name, tensor in weights.items():
            module = self
            *path, last = name.split(".")
            for part in path:
                if part not in module._modules:
                    module.add_module(part, torch.nn.Module())
                module = module._modules[part]
            module.register_parameter(last, torch.nn.Parameter(tensor.clone(), requires_grad=False))


def write_wrapped(source, folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(source)
    model = Module(weights)
    model.load_state_dict(weights, strict=True)
    prefixed = lambda prefix: collections.OrderedDict((prefix + name, tensor) for name, tensor in weights.items())
    # Parts of one storage, as flattened parameters are.
    flat = torch.cat([tensor.reshape(-1) for tensor in weights.values()])
    shared, start = {}, 0
    for name, tensor in weights.items():
        shared[name] = flat[start : start + tensor.numel()].view(tensor.shape)
        start += tensor.numel()
    turned = {name: tensor.t().contiguous().t() if tensor.dim() == 2 else tensor for name, tensor in weights.items()}
    cases = {
        "bare": weights,
        "state_dict": model.state_dict(),
        "parameters": {name: torch.nn.Parameter(tensor, requires_grad=False) for name, tensor in weights.items()},
        "module": {"state_dict": prefixed("module.")},
        "compiled": {"model": prefixed("_orig_mod."), "args": vars(Settings())},
        "both": prefixed("_orig_mod.module."),
        "company": checkpoint(weights),
        "unknown": {"model": weights, "ema": Average(weights), "config": Settings()},
        "shared": {"a": {"deep": [{"weights": shared}]}},
        "turned": turned,
        "twice": {"model": weights, "best": weights},
        "double": {name: tensor.double() for name, tensor in weights.items()},
    }
    for name, saved in cases.items():
        torch.save(saved, folder / f"{name}.pt")
        torch.save(saved, folder / f"{name}-legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(weights, folder / "protocol4.pt", pickle_protocol=4)
    torch.save(weights, folder / "protocol5.pt", pickle_protocol=5)
    save_file(prefixed("module."), folder / "module.safetensors")
    print(len(list(folder.iterdir())))


def compare(one, other):
    from safetensors.torch import load_file

    one, other = load_file(one), load_file(other)
    assert one.keys() == other.keys(), one.keys() ^ other.keys()
    for name, tensor in one.items():
        assert tensor.dtype == other[name].dtype and tensor.shape == other[name].shape, name
        assert torch.equal(tensor.view(torch.int32), other[name].view(torch.int32)), name
    print(len(one))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["small", folder]:
            write_small(pathlib.Path(folder))
        case ["gpt2", folder]:
            torch.save(gpt2(), pathlib.Path(folder) / "gpt2.bin")
        case ["wrap", source, folder]:
            write_wrapped(source, pathlib.Path(folder))
        case ["compare", one, other]:
            compare(one, other)
        case _:
            sys.exit(__doc__)
