"""The published outputs of a model of the paper's release as `items`, and as `answers` to them.

    python from_release.py lang-chess/experiment_evals/src/SFT8_BM-All_RL items.jsonl [answers.parquet]

A folder of github.com/lucasdino/lang-chess (MIT) has a JSON list for each task: `prompt`, `model_response`, and `info` with the position
and the truth. The items have the release's own prompts, so that its models are asked what they were trained for.
"""

import json
import pathlib
import re
import sys

TASKS = ["predictmove", "bestmove", "worstmove", "legalmoves"]
NAMES = {"predictmove": "predict_move", "bestmove": "best_move", "worstmove": "worst_move", "legalmoves": "legal_moves"}
PROMPT = re.compile(r"<\|im_start\|>system\n(.*?)<\|im_end\|>\n<\|im_start\|>user\n(.*?)<\|im_end\|>", re.DOTALL)


def item(task, number, row):
    """The item of a row."""
    name = f"reasoning_{NAMES[task]}"
    (system, question), truth = PROMPT.search(row["prompt"]).groups(), row["info"]["answer"]
    known = {"system": system}
    if task == "predictmove":
        best = max(truth.values())
        known["values"], answer = truth, ", ".join(sorted(uci for uci, win in truth.items() if win == best))
    elif task == "legalmoves":
        piece, square = re.search(r"for the (\w+ \w+) at ([a-h][1-8])", question).groups()
        known |= {"square": square, "piece": piece}
        answer = ", ".join(sorted(truth))
    else:
        known["candidates"], answer = truth["candidates"], truth["answer"]
    return {
        "task_id": f"{name}_{number:04}",
        "task_type": name,
        "task_category": "Reasoning",
        "input": row["info"]["board"],
        "question": question,
        "format_examples": [],
        "correct_answer": answer,
        "answer_type": "graded",
        "metadata": known,
    }


def main(folder, items, answers=None):
    built, texts = [], []
    for task in TASKS:
        for path in sorted(pathlib.Path(folder).glob(f"{task}_eval_*.json")):
            rows = json.loads(path.read_text(encoding="utf-8"))
            built += [item(task, number, row) for number, row in enumerate(rows)]
            texts += [row["model_response"] for row in rows]
    if not built:
        raise SystemExit(f"{folder} has no files such as predictmove_eval_400_….json")
    with open(items, "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in built)
    if answers:
        import pyarrow as pa
        import pyarrow.parquet

        table = pa.table({"task_id": [one["task_id"] for one in built], "response": texts})
        pyarrow.parquet.write_table(table, answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
