"""The stage `reinforce` and its twin in PyTorch (`reinforce.py`) take turns; CPU seconds a step of each, one core.

    python beside_reinforce.py CWM FOLDER

CWM is `target/release/cwm`, say, and this Python has torch. What is made in FOLDER is not made again.

Items are positions of six men, so that prompts have 16 words. The model is of a short `learn`, of answers that are a
move and the end: three words. What a run takes beside its steps is subtracted: two runs make different numbers of them.
"""

import json
import os
import subprocess
import sys
import time

SHORT, LONG, TURNS, ITEMS = 5, 45, 3, 64
KEPT = "4294967296"
PREPARE = """cwm: 1
stages:
  placed:
    stage: analyse
    matrix: { seed: [1, 2, 3, 4, 5, 6, 7, 8] }
    with: { place: 9990, max_pieces: 6, min_legal: 3, multipv: all, depth: 1, seed: $seed }
  asked:
    stage: questions
    each: placed
    from: { evaluations: placed }
    with: { tasks: [reasoning_predict_move], per_task: 9990 }
export: { asked.items: asked/ }
"""
TRAIN = """cwm: 1
vars: { items: short, seed: 0 }
stages:
  words: { stage: encode, from: { examples: { file: examples.jsonl } }, with: { form: speech, position: pieces } }
  tuned:
    stage: learn
    from: { train: words.sequences }
    with: { family: transformer, size: d64/l2, epochs: 2, batch_size: 256, lr: 2.0e-3 }
  trained:
    stage: reinforce
    from: { checkpoint: tuned, items: { file: "${items}.jsonl" } }
    with: { longest: 3, reading: lenient, seed: $seed, validation_every: 1000000, checkpoint_every: 1000000 }
"""


def used(*command, **more):
    """CPU seconds of a program and its children: of user and of both."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime, usage.ru_utime + usage.ru_stime


def example(item):
    """What is learnt before: the first of the best moves."""
    words = [{"role": "user", "content": "?"}, {"role": "assistant", "content": item["correct_answer"].split(",")[0]}]
    about = {"builder": "keep", "fen": item["input"], "task": item["task_type"]}
    return {"id": item["task_id"], "messages": words, "meta": about}


def prepare(cwm, folder):
    def write(name, lines):
        with open(os.path.join(folder, name), "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    for name, text in (("prepare.yaml", PREPARE), ("train.yaml", TRAIN)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    used(cwm, "run", "prepare.yaml", cwd=folder)
    items = {}
    for seed in range(1, 9):
        with open(os.path.join(folder, f"asked/seed={seed}/items.jsonl")) as file:
            items.update((item["input"], item) for item in map(json.loads, file))
    items = [{**item, "task_id": f"{item['task_type']}_{number:05}"} for number, item in enumerate(items.values())]
    write("examples.jsonl", map(example, items))
    of_six = [item for item in items if sum(letter.isalpha() for letter in item["input"].split()[0]) == 6]
    write("short.jsonl", of_six[: ITEMS * SHORT])
    write("long.jsonl", of_six[: ITEMS * LONG])
    used(cwm, "run", "train.yaml", "tuned", cwd=folder)


def ours(cwm, folder):
    """CPU seconds a step."""

    def run(items):
        values = ("--set", f"items={items}", "--set", f"seed={time.time_ns() // 1000}")
        return used(cwm, "run", "train.yaml", "trained", "-j", "1", *values, cwd=folder)

    return [(long - short) / (LONG - SHORT) for short, long in zip(run("short"), run("long"))]


def theirs():
    """The same of PyTorch, whose allocator keeps its memory."""
    kept = {"MALLOC_MMAP_THRESHOLD_": KEPT, "MALLOC_TRIM_THRESHOLD_": KEPT, "MALLOC_TOP_PAD_": "268435456"}
    twin = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reinforce.py")
    command = sys.executable, "-B", twin, str(LONG)
    said = subprocess.run(command, env={**os.environ, **kept}, stdout=subprocess.PIPE, check=True).stdout
    return [float(number) for number in said.split()[:2]]


def main(cwm, folder):
    cwm = os.path.abspath(cwm)
    os.makedirs(folder, exist_ok=True)
    prepare(cwm, folder)
    for _ in range(TURNS):
        of_both = ours(cwm, folder), theirs()
        for name, our, their in zip(("user", "user and system"), *of_both):
            print(f"{name}: cwm {our:.3f} s a step, PyTorch {their:.3f}, ratio {their / our:.2f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
