"""Training steps in PyTorch, with the weights and the batch that `models.rs` left in a folder.

    python pytorch.py FOLDER FAMILY SIZE THREADS games|boards|words

It says its version, then answers commands, a line each: `loss` with the batch's loss and gradient norm without dropout,
`steps N` with the seconds by the clock and of all processors that N steps take, with dropout where the family has it.
"""

import os
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/python"))
from twin import families, files, training


# Numbers of tokens and outputs, and what else makes the model.
SEQUENCES = {
    "boards": (1968, {"outputs": 1968, "positions": 78, "causal": False}),
    "words": (72, {"outputs": 72, "positions": 140}),
}


def sequence_loss(model, tokens, targets, valid=None):
    """Mean cross-entropy of the targets [batch, time]; those of -100 do not count."""
    wanted = targets != -100
    hidden = model.hidden(tokens)
    return F.cross_entropy(model.output_head(hidden[wanted]), targets[wanted])


def main(folder, family, size, threads, kind):
    torch.set_num_threads(int(threads))
    if kind == "games":
        model = families.build(family, size, dropout=0.1)
    else:
        vocabulary, more = SEQUENCES[kind]
        model = families.build(family, size, vocabulary, **more)
    loss_of = families.loss if kind == "games" else sequence_loss
    model.load_state_dict(files.tensors(os.path.join(folder, "model.safetensors")))
    given = files.tensors(os.path.join(folder, "batch.safetensors"))
    batch = given["tokens"], None, given["labels"].long()
    hyper = training.Hyper()
    adamw = training.optimiser(model, hyper)
    print(torch.__version__, flush=True)
    for line in sys.stdin:
        if line.strip() == "loss":
            model.eval()
            loss, norm, _ = training.update(model, adamw, batch, hyper.clip, 0.0, loss_of)
            model.train()
            print(loss, norm, flush=True)
            continue
        clock, cpu = time.perf_counter(), time.process_time()
        for _ in range(int(line.split()[1])):
            training.update(model, adamw, batch, hyper.clip, hyper.lr, loss_of)
        print(time.perf_counter() - clock, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
