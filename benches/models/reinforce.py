"""A step of `reinforce` in PyTorch on one thread; `beside_reinforce.py` lets the stage and this take turns.

    python reinforce.py STEPS

It says CPU seconds a step: of user; of user and system; and the parts of these: sampling, log-probabilities, updates.
It is Dr. GRPO of a Transformer d64/l2: 8 answers of 3 words to each of 64 prompts of 16, keys and values kept;
log-probabilities under the weights that sampled; an update for each 4 prompts. Rewards are made up. As in the stage,
groups in which all are equal are left out; a tenth are, as there with a model of a short `learn`.
"""

import os
import resource
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/python"))
from twin import training
from twin.transformer import Transformer, positions, turn

PROMPTS, ROLLOUTS, PROMPT, ANSWER, MINI_BATCH, WORDS, WIDTH, LAYERS, WARM_UP = 64, 8, 16, 3, 4, 148, 64, 2, 5


def used():
    """CPU seconds so far: of user and system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return torch.tensor([usage.ru_utime, usage.ru_stime], dtype=torch.float64)


def main(steps):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Transformer(WIDTH, LAYERS, WORDS, 0.0)
    model.output_head = torch.nn.Linear(WIDTH, WORDS)
    adamw = training.optimiser(model, training.Hyper(lr=1e-4, beta2=0.999))
    cosines, sines = positions(PROMPT + ANSWER, WIDTH, model.tok_emb.weight.detach())

    def stream(words, first=0, kept=None):
        """After the final norm [batch, time, width]. `kept`: keys and values of the words before; gets these."""
        x, (batch, length) = model.tok_emb(words), words.shape
        for number, block in enumerate(model.blocks):
            q, k, v = block.attn.qkv(block.norm1(x)).view(batch, length, 3, 1, WIDTH).permute(2, 0, 3, 1, 4)
            q, k = (turn(part, cosines[first : first + length], sines[first : first + length]) for part in (q, k))
            if first:
                k, v = (torch.cat(pair, 2) for pair in zip(kept[number], (k, v)))
            if kept is not None:
                kept[number] = k, v
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=not first)
            x = x + block.attn.out_proj(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
            x = x + block.mlp(block.norm2(x))
        return model.final_norm(x)

    @torch.inference_mode()
    def sample(prompts):
        kept = [None] * LAYERS
        probabilities = model.output_head(stream(prompts, 0, kept)[:, -1]).softmax(-1)
        answers = [probabilities.multinomial(ROLLOUTS, replacement=True).view(-1, 1)]
        kept = [[part.repeat_interleave(ROLLOUTS, 0) for part in block] for block in kept]
        for place in range(PROMPT, PROMPT + ANSWER - 1):
            probabilities = model.output_head(stream(answers[-1], place, kept)[:, -1]).softmax(-1)
            answers.append(probabilities.multinomial(1))
        return torch.cat([prompts.repeat_interleave(ROLLOUTS, 0), *answers], 1)

    def log_probabilities(read):
        every = model.output_head(stream(read[:, :-1])[:, PROMPT - 1 :]).log_softmax(-1)
        return every, every.gather(-1, read[:, PROMPT:, None]).squeeze(-1)

    times, signal, size = torch.zeros(3, 2, dtype=torch.float64), 0, MINI_BATCH * ROLLOUTS
    for step in range(WARM_UP + steps):
        marks = [used()]
        read = sample(torch.randint(WORDS, (PROMPTS, PROMPT)))
        rewards = (read[:, PROMPT:-1].sum(1) % 4 == 0).float().view(PROMPTS, ROLLOUTS)
        advantages = (rewards - rewards.mean(1, keepdim=True)).view(-1, 1)
        is_learnt = (rewards != rewards[:, :1]).any(1).repeat_interleave(ROLLOUTS)
        marks.append(used())
        with torch.inference_mode():
            measured = [log_probabilities(part) for part in read.split(size)]
            _entropy = -sum((every.exp() * every).sum() for every, _ in measured).item() / (len(read) * ANSWER)
        old = torch.cat([of_words for _, of_words in measured]).clone()
        marks.append(used())
        for first in range(0, len(read), size):
            chosen = is_learnt[first : first + size].nonzero().squeeze(1) + first
            if not len(chosen):
                continue
            advantage = advantages[chosen]
            ratio = (log_probabilities(read[chosen])[1] - old[chosen]).exp()
            assert first or (ratio - 1).abs().max() < 1e-5, "equal weights give equal probabilities"
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.28) * advantage).sum() / (size * ANSWER)
            adamw.zero_grad(set_to_none=True)
            loss.backward()
            if torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).isfinite():
                adamw.step()
        marks.append(used())
        if step >= WARM_UP:
            times += torch.stack(marks).diff(dim=0) / steps
            signal += is_learnt.float().mean().item() / steps
    user, parts = times[:, 0].sum(), times.sum(1)
    print(f"{user:.4f} {parts.sum():.4f} s a step:", *(f"{part:.4f}" for part in parts))
    print(f"learnt from {signal:.0%} of the groups")


if __name__ == "__main__":
    main(int(sys.argv[1]))
