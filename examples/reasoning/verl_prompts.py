"""Items as the prompts that veRL reads.

    python verl_prompts.py items.jsonl held-out.jsonl folder

writes train.jsonl, validation.jsonl, and items.jsonl with the items of both, by which `cwm reward` judges answers to either.
"""

import json
import pathlib
import sys

import common


def main(items, held_out, folder):
    common.check_apart(items, held_out)
    folder, of_both = pathlib.Path(folder), []
    for path, name in ((items, "train"), (held_out, "validation")):
        rows = common.read_lines(path)
        with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as lines:
            for item, row in zip(rows, common.prompts(path)):
                # The two files may have items of the same task_id.
                item["task_id"] = f"{name}-{item['task_id']}"
                truth = {"style": "rule", "ground_truth": item["task_id"]}
                lines.write(json.dumps({"data_source": "cwm", "prompt": row["prompt"], "reward_model": truth}) + "\n")
        of_both += rows
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in of_both), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
