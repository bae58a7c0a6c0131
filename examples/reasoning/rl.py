"""Reinforcement learning of a language model on `items` with TRL: Dr. GRPO with a higher upper clip, and the rewards of cwm.

    in_items=items.jsonl in_model=model out_model=trained python rl.py

Further variables, with their defaults: base (a model's name, in place of `in_model`), in_held_out (items whose boards may not be among
those), batch_size=64 (items a step), rollouts=8 (answers to each), mini_batch=4 (items an update), device_batch=4 (answers a GPU computes
at once), lr=1e-6, max_tokens=3000 (tokens of an answer), temperature=1, lora=0 (a rank), vllm=true (false: transformers generate), seed=0,
out_curves (a file).
"""

import os

import common
import reward

environment = os.environ.get


def settings():
    """Arguments of GRPOConfig: of the paper, and of its release what the paper leaves open. Each item is used once."""
    rollouts = int(environment("rollouts", "8"))
    return {
        "output_dir": os.environ["out_model"],
        "model_init_kwargs": {"dtype": "float32"},  # in 16 bits, steps this small would change nothing
        # A group's mean is taken off its rewards, and the sum over tokens is divided by `max_tokens`, for each answer.
        "loss_type": "dr_grpo",
        "scale_rewards": "none",
        "epsilon": 0.2,
        "epsilon_high": 0.28,
        "beta": 0.0,
        "num_generations": rollouts,
        "generation_batch_size": int(environment("batch_size", "64")) * rollouts,
        "per_device_train_batch_size": int(environment("device_batch", "4")),
        "gradient_accumulation_steps": common.accumulation_steps(int(environment("mini_batch", "4")) * rollouts),
        "max_completion_length": int(environment("max_tokens", "3000")),
        "temperature": float(environment("temperature", "1")),
        "num_train_epochs": 1,
        "learning_rate": float(environment("lr", "1e-6")),
        "lr_scheduler_type": "constant",
        "weight_decay": 0.01,
        "use_vllm": environment("vllm", "true") == "true",
        "vllm_importance_sampling_correction": False,
        "seed": int(environment("seed", "0")),
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }


def main():
    items, folder = os.environ["in_items"], os.environ["out_model"]
    if "in_held_out" in os.environ:
        common.check_apart(items, os.environ["in_held_out"])
    rows = common.prompts(items)
    if common.fake_training(settings(), {"reward": 0}, items=items, model=common.model_name()):
        # The rewards are real: that of one answer to each item.
        answers = [[{"role": "assistant", "content": "<answer> a1a1 </answer>"}] for _ in rows]
        print("mean reward", sum(reward.reward(answers, [row["task_id"] for row in rows])) / len(rows))
        return
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    trainer = GRPOTrainer(
        model=common.model_name(),
        args=GRPOConfig(**settings()),
        train_dataset=Dataset.from_list(rows),
        reward_funcs=reward.reward,
        peft_config=common.adapter(),
    )
    trainer.train()
    common.write_curves(trainer.state.log_history)
    common.save(trainer, folder)


if __name__ == "__main__":
    main()
