"""Supervised fine-tuning of a language model on `examples` with TRL; the loss is that of the assistant's tokens alone.

    in_examples=examples.jsonl base=Qwen/Qwen2.5-0.5B-Instruct out_model=model python sft.py

Further variables, with their defaults: in_model (a model's folder, in place of `base`), epochs=2, batch_size=64, device_batch=4
(examples a GPU computes at once), lr=3e-6, max_tokens=3000 (tokens; more are cut), lora=0 (a rank), seed=0, out_curves (a file).
"""

import os

import common

environment = os.environ.get


def settings():
    """Arguments of SFTConfig: of the paper, and of its released configuration what the paper leaves open."""
    return {
        "output_dir": os.environ["out_model"],
        "model_init_kwargs": {"dtype": "float32"},  # in 16 bits, steps this small would change nothing
        "assistant_only_loss": True,
        "num_train_epochs": float(environment("epochs", "2")),
        "per_device_train_batch_size": int(environment("device_batch", "4")),
        "gradient_accumulation_steps": common.accumulation_steps(int(environment("batch_size", "64"))),
        "learning_rate": float(environment("lr", "3e-6")),
        "lr_scheduler_type": "cosine",
        "warmup_steps": 0.1,  # a share of all steps
        "max_length": int(environment("max_tokens", "3000")),
        "seed": int(environment("seed", "0")),
        "eval_strategy": "epoch",
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }


def main():
    examples, folder = os.environ["in_examples"], os.environ["out_model"]
    curve = {"step": 1, "loss": 0, "learning_rate": 0, "grad_norm": 0}
    if common.fake_training(settings(), curve, examples=examples, model=common.model_name()):
        return
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    arguments = settings()
    rows = [{"messages": example["messages"]} for example in common.read_lines(examples)]
    data = Dataset.from_list(rows).train_test_split(test_size=0.01, seed=arguments["seed"])
    trainer = SFTTrainer(
        model=common.model_name(),
        args=SFTConfig(**arguments),
        train_dataset=data["train"],
        eval_dataset=data["test"],
        peft_config=common.adapter(),
    )
    trainer.train()
    common.write_curves(trainer.state.log_history)
    common.save(trainer, folder)


if __name__ == "__main__":
    main()
