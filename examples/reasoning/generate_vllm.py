"""Answers of a model to `items`, with vLLM and without a server, in the format `answers`.

    in_items=items.jsonl in_model=model out=answers.parquet python generate_vllm.py

Further variables, with the paper's values: base (a model's name, without `in_model`), temperature=0.7, top_p=0.9, min_p=0.02, top_k=40,
repetition_penalty=1.1, max_tokens=2048 (tokens of an answer), seed=0; and name, that of the run in tables.
"""

import json
import os

import pyarrow as pa
import pyarrow.parquet

import common

environment = os.environ.get


def answers(rows, model):
    """Text, end and numbers of tokens of one answer to each prompt."""
    if os.environ.get("CWM_FAKE_TRAINER"):
        return [("<answer> a1a1 </answer>", "stop", 0, 0) for _ in rows]
    from vllm import LLM, SamplingParams

    sampling = SamplingParams(
        temperature=float(environment("temperature", "0.7")),
        top_p=float(environment("top_p", "0.9")),
        min_p=float(environment("min_p", "0.02")),
        top_k=int(environment("top_k", "40")),
        repetition_penalty=float(environment("repetition_penalty", "1.1")),
        max_tokens=int(environment("max_tokens", "2048")),
        seed=int(environment("seed", "0")),
    )
    outputs = LLM(model=model).chat([row["prompt"] for row in rows], sampling)
    ends = [(output.outputs[0], output.prompt_token_ids) for output in outputs]
    return [(end.text, end.finish_reason, len(prompt), len(end.token_ids)) for end, prompt in ends]


def main():
    rows = common.prompts(os.environ["in_items"])
    texts, ends, prompt, completion = zip(*answers(rows, common.model_name()))
    columns = {
        "task_id": pa.array([row["task_id"] for row in rows]),
        "response": pa.array(texts),
        "finish": pa.array(ends),
        "prompt_tokens": pa.array(prompt, pa.uint64()),
        "completion_tokens": pa.array(completion, pa.uint64()),
    }
    table = pa.table(columns)
    if environment("name"):
        table = table.replace_schema_metadata({"cwm.run": json.dumps({"name": environment("name")})})
    pyarrow.parquet.write_table(table, os.environ["out"])


if __name__ == "__main__":
    main()
