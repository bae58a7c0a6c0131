"""What the programs of this folder share: prompts of items, adapters, curves, and a trainer that trains nothing."""

import hashlib
import json
import os
import pathlib


def read_lines(path):
    """The JSON objects of a file, one a line."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def prompts(path):
    """Of each item of a file its task_id, and its prompt as messages."""

    def messages(item):
        system = item["metadata"].get("system")
        head = [{"role": "system", "content": system}] if system else []
        return head + [{"role": "user", "content": item["question"]}]

    return [{"task_id": item["task_id"], "prompt": messages(item)} for item in read_lines(path)]


def model_name():
    """The model to begin with: the folder `in_model`, otherwise the name in `base`."""
    return os.environ.get("in_model") or os.environ["base"]


def accumulation_steps(batch):
    """How many times each GPU computes `device_batch` texts for one update by a batch."""
    devices, device_batch = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("device_batch", "4"))
    if batch % (devices * device_batch):
        raise SystemExit(f"{devices} GPUs with device_batch={device_batch} cannot share an update of {batch} texts: change device_batch")
    return batch // (devices * device_batch)


def adapter():
    """Settings of LoRA of the rank `lora`; None to train all parameters."""
    rank = int(os.environ.get("lora", "0"))
    if rank == 0:
        return None
    from peft import LoraConfig

    return LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")


def save(trainer, folder):
    """Writes the model, with its adapter merged into it, and its tokenizer."""
    if getattr(trainer.model, "peft_config", None):
        trainer.model.merge_and_unload().save_pretrained(folder)
        trainer.processing_class.save_pretrained(folder)
    else:
        trainer.save_model(folder)


def write_curves(history):
    """Writes what a trainer of TRL recorded as `curves`, to the file `out_curves` if there is one."""
    if "out_curves" not in os.environ:
        return
    names = {
        "loss": "loss",
        "reward": "reward",
        "completions/mean_length": "length",
        "completions/clipped_ratio": "clipped",
        "entropy": "entropy",
        "learning_rate": "learning_rate",
        "grad_norm": "gradient_norm",
    }
    with open(os.environ["out_curves"], "w", encoding="utf-8") as lines:
        steps = 0
        for log in history:
            if "reward" in log:  # new answers were generated, of which there may be several updates
                steps += 1
                line = {"kind": "reinforce", "step": steps}
            elif "grad_norm" in log and steps == 0:
                line = {"kind": "train", "step": log["step"]}
            else:
                continue
            line |= {name: float(log[key]) for key, name in names.items() if key in log}
            lines.write(json.dumps(line) + "\n")


def digest(path):
    """The SHA-256 of a file, or of the names and contents of a folder's files; of other text, such as a model's name, the text."""
    path, total = pathlib.Path(path), hashlib.sha256()
    if not path.exists():
        return str(path)
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            total.update(str(file.relative_to(path)).encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def fake_training(settings, curve, **inputs):
    """With CWM_FAKE_TRAINER, writes digests of what a training would read in place of a model, and a line of its curve, and is true."""
    if not os.environ.get("CWM_FAKE_TRAINER"):
        return False
    folder = pathlib.Path(settings.pop("output_dir"))
    folder.mkdir(parents=True, exist_ok=True)
    record = {"inputs": {name: digest(path) for name, path in inputs.items()}, "settings": settings}
    (folder / "fake.json").write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    write_curves([curve])
    return True


def check_apart(items, held_out):
    """Ends the program if items to learn from have boards of items that are held out: the first four fields of a FEN."""

    def boards(path):
        return {" ".join(item["input"].split()[:4]) for item in read_lines(path)}

    common = sorted(boards(items) & boards(held_out))
    if common:
        first = "\n  ".join(common[:10])
        raise SystemExit(f"{items} and {held_out} have {len(common)} boards in common; the first are\n  {first}")
