"""Tests examples/reasoning without a trainer: rewards through `cwm reward`, and what TRL and veRL read.

    python reasoning_training.py examples/reasoning items.jsonl examples.jsonl [answers.parquet grades.parquet]

CWM_PROGRAM is the program. With answers and their grades, rewards are compared with those that `grade` gave.
"""

import json
import os
import pathlib
import signal
import sys
import tempfile

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

folder, items, examples, *graded = sys.argv[1:]
sys.path.insert(0, folder)
os.environ["in_items"] = items

import common  # noqa: E402
import from_release  # noqa: E402
import reward  # noqa: E402
import verl_prompts  # noqa: E402


def completion(text):
    return [{"role": "assistant", "content": text}]


def failure(call):
    """The error that a call ends with."""
    try:
        call()
    except (RuntimeError, ValueError, SystemExit) as error:
        return str(error)
    raise AssertionError("no error")


def rewards_of_grades():
    """Task ids, texts and rewards of up to a thousand graded answers."""
    answers, grades = (pyarrow.parquet.read_table(path).to_pylist() for path in graded)
    rewards = {(row["task_id"], row.get("sample") or 0): row["reward"] for row in grades}
    rows = answers[:1000]
    wanted = [rewards[row["task_id"], row.get("sample") or 0] for row in rows]
    return [row["task_id"] for row in rows], [row["response"] for row in rows], wanted


def check_rewards():
    names = [item["task_id"] for item in common.read_lines(items)]
    texts, wanted = ["<answer> e2e4 </answer>\u2028\ud800 \0"] * len(names), None
    if graded:
        names, texts, wanted = rewards_of_grades()
        assert len(set(wanted)) > 2, "the rewards are all alike"
    found = reward.reward([completion(text) for text in texts], task_id=names, prompts=None)
    assert wanted is None or found == wanted, "not the rewards of `grade`"
    assert reward.compute_score("cwm", texts[0], names[0]) == found[0]

    # More bytes than pipes hold, both ways.
    many = reward.rewards([(name, text + " " * 1000) for name, text in zip(names * 20, texts * 20)])
    assert many == found * 20

    (judge,) = reward.judges.values()
    first = judge.process.pid
    os.kill(first, signal.SIGKILL)
    again = reward.reward([completion(text) for text in texts], task_id=names)
    assert again == found and judge.process.pid != first, "it was not started again"

    # An item that is not there is named, and the process lives on.
    last = judge.process.pid
    assert "nobody" in failure(lambda: reward.rewards([("nobody", "")]))
    assert reward.rewards([(names[0], texts[0])]) == found[:1] and judge.process.pid == last
    os.environ["CWM_PROGRAM"] = "false"
    assert "ended twice" in failure(lambda: reward.Judge(items).judge([(names[0], "")]))
    return len(found)


def check_release():
    """Files of the release become items that `cwm reward` judges, and published outputs the answers to them."""
    fen = "8/8/8/8/8/1k6/8/3K4 w - - 0 1"
    values = {"d1e2": 0.75, "d1c1": 0.25, "d1d2": 0.5, "d1e1": 0.25}
    asked = {"chat": [["system", "task"], ["user", "Where to?\u2028"]], "info": {"board": fen, "answer": values}}
    text = "<answer>d1e2</answer>"
    candidates = {"candidates": ["d1c1", "d1e2"], "answer": "d1e2"}
    prompt = "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nWhich?<|im_end|>\n"
    row = {"prompt": prompt, "model_response": text, "info": {"board": fen, "answer": candidates}}
    with tempfile.TemporaryDirectory() as out:
        files = [pathlib.Path(out) / name for name in ("predictmove.jsonl", "bestmove.json", "system", "items", "answers")]
        for file, written in zip(files, (json.dumps(asked, ensure_ascii=False) + "\n", json.dumps([row]), "play\n")):
            file.write_text(written, encoding="utf-8")
        asked_file, told_file, system, built, answers = map(str, files)
        sys.argv = ["from_release.py", "--system", system, "--answers", answers, built, asked_file, told_file]
        from_release.main()
        first, second = common.prompts(built)
        assert [message["content"] for message in first["prompt"]] == ["play", "Where to?\u2028"], first
        assert [message["content"] for message in second["prompt"]] == ["s", "Which?"], second
        assert pyarrow.parquet.read_table(answers)["response"].to_pylist() == [None, text]
        found = reward.Judge(built).judge([(first["task_id"], "<answer>d1d2</answer>"), (second["task_id"], text)])
        assert [reply["reward"] for reply in found] == [0.5, 1.0], found


def check_updates():
    """A batch is never made larger or smaller than it was asked for."""
    os.environ.update(WORLD_SIZE="8", device_batch="4")
    assert common.accumulation_steps(64) == 2
    assert "cannot share" in failure(lambda: common.accumulation_steps(48))


def check_schema():
    """The columns that `datasets`, which reads by pyarrow, makes of `examples` and of prompts."""
    message = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
    read = pyarrow.json.read_json(examples)
    assert read.schema.field("messages").type == message and read.schema.field("id").type == pa.string(), read.schema
    with tempfile.TemporaryDirectory() as out:
        held_out = pathlib.Path(out) / "other.jsonl"
        held_out.write_text(json.dumps(common.read_lines(items)[0] | {"input": "8/8/8/8/8/8/8/8 w - - 0 1"}) + "\n")
        verl_prompts.main(items, held_out, out)
        prompts = pyarrow.json.read_json(f"{out}/train.jsonl")
        assert prompts.schema.field("prompt").type == message, prompts.schema
        assert len(common.read_lines(f"{out}/items.jsonl")) == len(prompts) + 1
        common_boards = failure(lambda: common.check_apart(items, items))
        assert "boards in common" in common_boards and common_boards.count("\n") <= 10, common_boards
    return len(read)


check_release()
check_updates()
print(f"{check_schema()} examples are read; {check_rewards()} rewards, also from a process that was started again")
