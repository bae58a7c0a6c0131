#!/usr/bin/env bash
# Reinforcement learning as in rl.py, with veRL (requirements-verl.txt), the paper's trainer.
#
#   in_items=items.jsonl in_held_out=held-out.jsonl in_model=model out_model=trained gpus=8 examples/reasoning/verl.sh
#
# Further variables, with their defaults: batch_size=64, rollouts=8, mini_batch=4, lr=1e-6, max_tokens=3000, seed=0. veRL also bounds the
# ratio of answers with a negative advantage by 3 (`clip_ratio_c`), as the published runs did.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -B "$here/verl_prompts.py" "$in_items" "$in_held_out" "$work"
export in_items="$work/items.jsonl"

python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo algorithm.norm_adv_by_std_in_grpo=False algorithm.use_kl_in_reward=False \
    data.train_files="$work/train.jsonl" data.val_files="$work/validation.jsonl" data.seed="${seed:-0}" \
    data.train_batch_size="${batch_size:-64}" data.max_prompt_length=1024 data.max_response_length="${max_tokens:-3000}" \
    actor_rollout_ref.model.path="$in_model" \
    actor_rollout_ref.actor.ppo_mini_batch_size="${mini_batch:-4}" actor_rollout_ref.actor.use_dynamic_bsz=True \
    actor_rollout_ref.actor.optim.lr="${lr:-1e-6}" actor_rollout_ref.actor.use_kl_loss=False \
    actor_rollout_ref.actor.clip_ratio_low=0.2 actor_rollout_ref.actor.clip_ratio_high=0.28 \
    actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-sum-norm \
    actor_rollout_ref.actor.loss_scale_factor="${max_tokens:-3000}" \
    actor_rollout_ref.actor.checkpoint.save_contents='[model,hf_model]' \
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n="${rollouts:-8}" \
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
    reward.custom_reward_function.path="$here/reward.py" \
    trainer.n_gpus_per_node="${gpus:-1}" trainer.total_epochs=1 trainer.test_freq=10 trainer.logger='[console]' \
    trainer.default_local_dir="$work/checkpoints" trainer.save_freq=1000000 trainer.resume_mode=disable
cp -r "$work"/checkpoints/global_step_*/actor/huggingface "$out_model"
