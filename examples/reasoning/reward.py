"""Rewards of answers, as a reward function of TRL (`reward`) and of veRL (`compute_score`).

One process `cwm reward ITEMS` is kept open and judges them with the code of the stage `grade`. If it ends, it is started once more.

    in_items=items.jsonl        the items
    CWM_PROGRAM=cwm             the program, unless `cwm` is in the PATH
"""

import json
import os
import subprocess
import threading


class Judge:
    """A process that judges answers to the items of a file; several threads may use it."""

    def __init__(self, items):
        self.command = [os.environ.get("CWM_PROGRAM", "cwm"), "reward", os.path.abspath(items)]
        self.process, self.lock = None, threading.Lock()

    def judge(self, answers):
        """What each (task_id, text) is: `{"reward", "verdict", "score"}`."""
        lines = [json.dumps({"task_id": task_id, "text": text}) + "\n" for task_id, text in answers]
        with self.lock:
            replies = self._replies(lines) or self._replies(lines)
        if replies is None:
            raise RuntimeError(f"`{' '.join(self.command)}` ended twice; its message is above")
        for reply in replies:
            if "error" in reply:
                raise ValueError(f"cwm reward: {reply['error']}")
        return replies

    def _replies(self, lines):
        """One reply a line; None if the process ended before."""
        if self.process is None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.process = subprocess.Popen(self.command, encoding="utf-8", **pipes)
        # A thread writes, since a full pipe of replies would stop the process.
        writer = threading.Thread(target=self._write, args=(self.process.stdin, lines))
        writer.start()
        replies = [self.process.stdout.readline() for _ in lines]
        writer.join()
        if all(reply.endswith("\n") for reply in replies):
            return [json.loads(reply) for reply in replies]
        self.process.kill()
        self.process.wait()
        self.process = None
        return None

    @staticmethod
    def _write(stdin, lines):
        try:
            stdin.writelines(lines)
            stdin.flush()
        except OSError:
            pass  # The process ended, and so do its replies.


judges = {}


def rewards(answers):
    """The reward of each (task_id, text)."""
    items = os.environ["in_items"]
    judge = judges.setdefault(items, Judge(items))
    return [reply["reward"] for reply in judge.judge(answers)]


def reward(completions, task_id, **_):
    """TRL's reward function; the dataset has the column `task_id`."""
    return rewards([(name, completion[-1]["content"]) for name, completion in zip(task_id, completions)])


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    """veRL's reward function; `ground_truth` is the item's task_id."""
    return rewards([(ground_truth, solution_str)])[0]
