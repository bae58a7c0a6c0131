"""The protocol: what a step is, and what it is measured by."""

import math

import torch

from .families import logits, loss as label_loss
from .parts import LABELS, PAD, loss_sum, predicted


class Hyper:
    """Parameters of a run under the names of cwm's."""

    lr, warmup, schedule, lr_floor, horizon = 3e-3, 10, "cosine", 0.1, None
    weight_decay, beta2, clip = 0.01, 0.95, 1.0
    batch_size, steps, validation_every = 16, 100, 50

    def __init__(self, **given):
        for name, value in given.items():
            if not hasattr(Hyper, name):
                raise ValueError(f"there is no parameter {name}")
            setattr(self, name, value)
        self.horizon = self.horizon or self.steps

    def rate(self, update):
        """Learning rate of the update of this number, from 0."""
        if update < self.warmup:
            return self.lr * (update + 1) / self.warmup
        progress = (min(update, self.horizon) - self.warmup) / max(1, self.horizon - self.warmup)
        share = {"cosine": 0.5 * (1 + math.cos(math.pi * progress)), "linear": 1 - progress, "constant": 1.0}
        floor = 1.0 if self.schedule == "constant" else self.lr_floor
        return self.lr * (floor + (1 - floor) * share[self.schedule])


def optimiser(model, hyper):
    """AdamW with decay on every parameter but those that a family exempts."""
    exempt = list(getattr(model, "without_decay", lambda: [])())
    others = [p for p in model.parameters() if all(p is not e for e in exempt)]
    groups = [{"params": others, "weight_decay": hyper.weight_decay}, {"params": exempt, "weight_decay": 0.0}]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, lr=hyper.lr, betas=(0.9, hyper.beta2), eps=1e-8, fused=True)


def padded(batch):
    """Tokens [batch, time], which of them are real, and the labels of the real ones."""
    tokens = torch.nn.utils.rnn.pad_sequence([tokens for tokens, _ in batch], True, PAD)
    valid = tokens != PAD
    labels = torch.cat([labels for _, labels in batch])
    return tokens, None if valid.all() else valid, labels


def update(model, adamw, batch, clip, rate, loss_of=label_loss):
    """One step on (tokens, valid, labels); its loss and gradient norm, and whether it was applied."""
    tokens, valid, labels = batch
    adamw.zero_grad(set_to_none=True)
    loss = loss_of(model, tokens, labels, valid)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    applied = bool(torch.isfinite(loss)) and bool(torch.isfinite(norm))
    if applied:
        for group in adamw.param_groups:
            group["lr"] = rate
        adamw.step()
    return loss.item(), norm.item(), applied


@torch.no_grad()
def measure(model, games, batch_size):
    """Loss, labelwise, exact state and exact trajectory over all positions of all games."""
    model.eval()
    loss, right, exact, whole, steps = 0.0, 0, 0, 0, 0
    for start in range(0, len(games), batch_size):
        batch = games[start : start + batch_size]
        tokens, valid, labels = padded(batch)
        found = logits(model, tokens, valid)
        loss += loss_sum(found.double(), labels).item()
        hits = predicted(found) == labels
        right, steps = right + hits.sum().item(), steps + len(labels)
        of_games = hits.all(1).split([len(tokens) for tokens, _ in batch])
        exact += sum(game.sum().item() for game in of_games)
        whole += sum(game.all().item() for game in of_games)
    model.train()
    shares = right / (LABELS * steps), exact / steps, whole / len(games)
    return {"loss": loss / (LABELS * steps), **dict(zip(("labelwise", "exact", "trajectory"), shares))}


def run(model, games, hyper, validation=()):
    """Trains on `games` in their order, epoch after epoch, the last batch of each with what is left. One row a step,
    and one a validation."""
    adamw = optimiser(model, hyper)
    per_epoch = -(-len(games) // hyper.batch_size)
    model.train()
    updates, train, measured = 0, [], []
    for step in range(hyper.steps):
        start = step % per_epoch * hyper.batch_size
        rate = hyper.rate(updates)
        batch = padded(games[start : start + hyper.batch_size])
        loss, norm, applied = update(model, adamw, batch, hyper.clip, rate)
        updates += applied
        train.append({"step": step + 1, "loss": loss, "learning_rate": rate, "gradient_norm": norm})
        done = step + 1
        if validation and (done % hyper.validation_every == 0 or done % per_epoch == 0 or done == hyper.steps):
            measured.append({"step": done, **measure(model, validation, hyper.batch_size)})
    return train, measured
