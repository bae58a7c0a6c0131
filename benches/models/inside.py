"""Linear probes and gated autoencoders in PyTorch, on random rows.

    python inside.py FOLDER THREADS

Writes its version, then answers commands, a line each, with the seconds by the clock and of all processors:
`probes ROWS WIDTH SITES BATCH EPOCHS` trains linear probes of 64 squares and 13 classes of all sites at once,
`autoencoders BATCH WIDTH LATENTS SITES UPDATES` makes updates of one autoencoder a site.
"""

import sys
import time

import torch
import torch.nn.functional as F

SQUARES, CLASSES = 64, 13


def probes(rows, width, sites, batch, epochs):
    torch.manual_seed(0)
    x = torch.randn(sites, rows, width)
    labels = torch.randint(CLASSES, (rows, SQUARES))
    weight = torch.nn.Parameter(torch.randn(sites, width, SQUARES * CLASSES) * 0.02)
    adamw = torch.optim.AdamW([weight], lr=1e-3, betas=(0.9, 0.99), weight_decay=0.01)

    def work():
        for _ in range(epochs):
            for chosen in torch.randperm(rows).split(batch):
                logits = torch.einsum("srw,swc->src", x[:, chosen], weight).view(sites, -1, SQUARES, CLASSES)
                target = labels[chosen].expand(sites, -1, -1)
                loss = F.cross_entropy(logits.reshape(-1, CLASSES), target.reshape(-1), reduction="sum") / len(chosen)
                adamw.zero_grad(set_to_none=True)
                loss.backward()
                adamw.step()

    return work


class Gated(torch.nn.Module):
    def __init__(self, width, latents):
        super().__init__()
        decoder = F.normalize(torch.randn(width, latents), dim=0)
        self.gate, self.decoder = torch.nn.Parameter(decoder.t().clone()), torch.nn.Parameter(decoder)
        zeros = lambda size: torch.nn.Parameter(torch.zeros(size))
        self.gate_bias, self.r, self.magnitude_bias = zeros(latents), zeros(latents), zeros(latents)
        self.decoder_bias = zeros(width)

    def loss(self, x, sparsity):
        z = F.linear(x - self.decoder_bias, self.gate)
        pi = z + self.gate_bias
        latents = F.relu(z * self.r.exp() + self.magnitude_bias) * (pi > 0)
        opened = F.relu(pi)
        rows = F.linear(latents, self.decoder, self.decoder_bias)
        auxiliary = F.linear(opened, self.decoder.detach(), self.decoder_bias.detach())
        terms = (rows - x).square().sum(), sparsity * opened.sum(), (auxiliary - x).square().sum()
        return sum(terms) / len(x)


def autoencoders(batch, width, latents, sites, updates):
    torch.manual_seed(0)
    models = [Gated(width, latents) for _ in range(sites)]
    adams = [torch.optim.Adam(model.parameters(), lr=3e-4, betas=(0.0, 0.999)) for model in models]
    rows = torch.randn(updates, batch, width)

    def work():
        for x in rows:
            for model, adam in zip(models, adams):
                adam.zero_grad(set_to_none=True)
                model.loss(x, 0.1).backward()
                with torch.no_grad():
                    # Columns of the decoder stay of length 1.
                    decoder, gradient = model.decoder, model.decoder.grad
                    gradient -= decoder * (decoder * gradient).sum(0)
                    adam.step()
                    decoder.div_(decoder.norm(dim=0))

    return work


def main(_folder, threads):
    torch.set_num_threads(int(threads))
    print(torch.__version__, flush=True)
    for line in sys.stdin:
        name, *numbers = line.split()
        work = {"probes": probes, "autoencoders": autoencoders}[name](*map(int, numbers))
        clock, cpu = time.perf_counter(), time.process_time()
        work()
        print(time.perf_counter() - clock, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
