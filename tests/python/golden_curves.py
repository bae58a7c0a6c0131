"""Computes the curves of tests/golden/curves.json: what PyTorch makes of the runs of pipeline.yaml.

    python golden_curves.py CWM [FAMILY…] > curves.json

The current folder is one in which `CWM run` ran. Losses and gradient norms are those of fp64. Beside each
stands how far PyTorch's own fp32 has been from it at most up to that step: so far apart is what computes the same.
"""

import itertools
import json
import subprocess
import sys

import torch

from curve import curve

# What decides a run, as `model.json` has it under `training`.
HYPER = "lr warmup schedule lr_floor horizon weight_decay beta2 clip batch_size steps".split()
GAMES = "games-with-labels"


def cwm(program, *arguments):
    ran = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def apart(exact, rounded):
    """The largest difference so far, up to two digits."""
    differences = (abs(a - b) for a, b in zip(exact, rounded))
    return [float(f"{most:.1e}") for most in itertools.accumulate(differences, max)]


def of_family(program, family):
    start = cwm(program, "show", "--path", f"start[family={family}].checkpoint")
    with open(cwm(program, "show", "--path", f"model[family={family}].checkpoint") + "/model.json", encoding="utf-8") as file:
        training = json.load(file)["training"]
    hyper = {name: training[name] for name in HYPER}
    run = dict(checkpoint=start, train=GAMES, validation=GAMES, validation_every=hyper["steps"], **hyper)
    exact, rounded = curve(exact=True, **run), curve(**run)
    found = {"validation": exact["validation"][-1]}
    for name in ("loss", "gradient_norm"):
        truth, other = ([step[name] for step in of["train"]] for of in (exact, rounded))
        found[name] = [float(f"{value:.10g}") for value in truth]
        found[name + "_apart"] = apart(truth, other)
    rates = [step["learning_rate"] for step in exact["train"]]
    return found, rates


def main(program, *families):
    torch.set_num_threads(1)
    cwm(program, "export", "games.dataset", GAMES, "--labels")
    families = families or (
        "transformer slice slice_diag mamba2 mamba3 mamba3_mimo gated_deltanet gated_deltanet_pos".split()
    )
    found = {family: of_family(program, family) for family in families}
    # One line a list, so that a change can be read.
    rows = [f'"torch": {json.dumps(torch.__version__)}']
    rows.append(f'"learning_rate": {json.dumps(next(iter(found.values()))[1])}')
    for family, (curves, _) in found.items():
        lists = ",\n  ".join(f'"{name}": {json.dumps(values)}' for name, values in curves.items())
        rows.append(f'"{family}": {{\n  {lists}\n}}')
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main(*sys.argv[1:])
