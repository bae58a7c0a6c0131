"""Training steps in PyTorch, with the weights and the batch that `models.rs` left in a folder.

    python pytorch.py FOLDER FAMILY SIZE THREADS [boards]

It says its version, then answers commands, a line each: `loss` with the batch's loss and gradient norm without dropout,
`steps N` with the seconds by the clock and of all processors that N steps take, with dropout where the family has it.
"""

import os
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/python"))
from twin import families, files, training


def main(folder, family, size, threads, boards=None):
    torch.set_num_threads(int(threads))
    if boards:
        model = families.build(family, size, 1968, outputs=1968, positions=78, causal=False)
    else:
        model = families.build(family, size, dropout=0.1)
    loss_of = families.answer_loss if boards else families.loss
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
