"""Files of the paper's release as `items`, and published outputs as `answers` to them.

    python from_release.py [--system FILE] [--answers answers.parquet] items.jsonl FILE…

The release is github.com/lucasdino/lang-chess (MIT). Its files are named after their task, such as bestmove…, and are of three kinds:
evaluation files (JSON lines: `chat`, `info`), whose system message is a name: --system is the file with that text; published outputs
(a JSON list: `prompt`, `model_response`, `info`); and items of reinforcement learning (Parquet: `prompt`, `reward_model`, `extra_info`),
whose values are the scaled ones. The items have the release's own prompts, so that its models are asked what they were trained for.
"""

import argparse
import ast
import collections
import json
import pathlib
import re

NAMES = {"predictmove": "predict_move", "bestmove": "best_move", "worstmove": "worst_move", "legalmoves": "legal_moves"}
TURNS = re.compile(r"<\|im_start\|>(?:system|user)\n(.*?)<\|im_end\|>", re.DOTALL)


def rows(path, system):
    """System message, question, FEN, truth and answer of each row of a file."""
    if path.suffix == ".parquet":
        import pyarrow.parquet

        for row in pyarrow.parquet.read_table(path).to_pylist():
            messages = [message["content"] for message in row["prompt"]]
            yield *messages, row["extra_info"]["board"], ast.literal_eval(row["reward_model"]["ground_truth"]), None
        return
    text = path.read_text(encoding="utf-8")
    # Texts may have other characters that end lines for `splitlines`.
    lines = [line for line in text.split("\n") if line.strip()]
    for row in map(json.loads, lines) if path.suffix == ".jsonl" else json.loads(text):
        messages = [system, row["chat"][1][1]] if "chat" in row else TURNS.findall(row["prompt"])
        yield *messages, row["info"]["board"], row["info"]["answer"], row.get("model_response")


def item(task, number, system, question, fen, truth):
    """The item of a row."""
    name = f"reasoning_{NAMES[task]}"
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
        "input": fen,
        "question": question,
        "format_examples": [],
        "correct_answer": answer,
        "answer_type": "graded",
        "metadata": known,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", type=pathlib.Path)
    parser.add_argument("--answers")
    parser.add_argument("items")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    system = arguments.system.read_text(encoding="utf-8").strip() if arguments.system else None
    built, texts, numbers = [], [], collections.Counter()
    for path in arguments.files:
        task = re.match("|".join(NAMES), path.name)
        if not task:
            raise SystemExit(f"{path} is named after none of the tasks {', '.join(NAMES)}")
        for *message, fen, truth, text in rows(path, system):
            if None in message:
                raise SystemExit(f"{path} names its system message: give the file with its text as --system")
            built.append(item(task[0], numbers[task[0]], *message, fen, truth))
            numbers[task[0]] += 1
            texts.append(text)
    with open(arguments.items, "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in built)
    if arguments.answers:
        import pyarrow as pa
        import pyarrow.parquet

        table = pa.table({"task_id": [one["task_id"] for one in built], "response": pa.array(texts, pa.utf8())})
        pyarrow.parquet.write_table(table, arguments.answers)


if __name__ == "__main__":
    main()
