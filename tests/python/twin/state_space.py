"""The recurrence of Mamba-2 and Mamba-3 in chunks: within a chunk every step looks at all before it, from chunk to chunk
goes a state."""

import torch
import torch.nn.functional as F

from .parts import decays


def chunked(q, k, v, steps, carried, own, rank, chunk):
    """y_i = Σ_{j<i} w_j exp(Σ steps from j + 1 to i) (q_i · k_j) v_j with w = `carried`, and `own` for j = i.

    `q` and `k` are [batch, heads or 1, time, rank, state], `v` is [batch, heads, time, rank, width], the others are
    [batch, heads, time]. Steps of several ranks look at all ranks of the others."""
    batch, heads, time, _, width = v.shape
    chunk = min(chunk, time)
    chunks, short = -(-time // chunk), -time % chunk

    def cut(x):
        return F.pad(x, (0, 0, 0, 0, 0, short)).reshape(batch, x.shape[1], chunks, chunk * rank, -1)

    q, k, v = cut(q), cut(k), cut(v)
    steps, carried, own = (F.pad(x, (0, short)).view(batch, heads, chunks, chunk) for x in (steps, carried, own))
    weights = decays(steps) * carried[..., None, :] + torch.diag_embed(own - carried)
    scores = q @ k.transpose(-1, -2)
    if rank > 1:
        scores = scores.view(batch, heads, chunks, chunk, rank, chunk, rank) * weights[..., None, :, None]
        scores = scores.view(batch, heads, chunks, chunk * rank, chunk * rank)
    else:
        scores = scores * weights
    y = scores @ v
    if chunks > 1:
        total = steps.cumsum(-1)
        last = total[..., -1:]
        by_row = lambda x: x.repeat_interleave(rank, -1)[..., None]
        added = (k * by_row((last - total).exp() * carried)).transpose(-1, -2) @ v
        state, states = torch.zeros_like(added[:, :, 0]), []
        for i in range(chunks):
            states.append(state)
            state = last[:, :, i, :, None].exp() * state + added[:, :, i]
        y = y + (q * by_row(total.exp())) @ torch.stack(states, 2)
    return y.view(batch, heads, chunks * chunk, rank, width)[:, :, :time]
