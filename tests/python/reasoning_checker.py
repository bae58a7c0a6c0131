"""An independent checker of built items and examples: python-chess, the FEN and the values, and nothing of cwm.

    python reasoning_checker.py [legal_min=3] [evaluations=FILE] [apart=ITEMS] FILE…

Each FILE is `items` or `examples` (docs/formats.md). With `evaluations`, the values of items and the targets of best moves are compared
with those of that file. With `apart`, no board of the files may be one of these items. Prints what was checked; each fault is a line,
and the exit status is then 1.
"""

import json
import math
import sys
from collections import Counter

import chess

from reasoning_boards import form, legal, place, position
from reasoning_facts import check_facts
from reasoning_items import check_item, check_set
from reasoning_search import check_search

PROMOTIONS = ["", "q", "r", "b", "n"]
DIRECT = "Answer the following; separate several answers by a space.\n"


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def uci(packed):
    """A packed move of the format `games`: six bits of the origin, six of the target, and the promotion."""
    origin, target = packed & 63, packed >> 6 & 63
    return chess.square_name(origin) + chess.square_name(target) + PROMOTIONS[packed >> 12]


def win(line):
    """The win probability of a line for the side to move."""
    if line["mate"] is not None:
        return float(line["mate"] > 0)
    return 1 / (1 + math.exp(-0.00368208 * line["centipawns"]))


def evaluations(path):
    """By FEN, the win probability of each move that has a line."""
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(path, columns=["fen", "lines"]).to_pylist()
    return {row["fen"]: {uci(line["moves"][0]): win(line) for line in row["lines"]} for row in rows}


def best_move(board, user, target, values):
    assert "best move" in user and target in legal(board), f"{target} is not legal"
    if values:
        assert values[target] == max(values.values()), f"{target} is not the best move"
    return []


def best_line(board, user, target, _):
    *moves, end = target.split()
    line = board.copy(stack=False)
    for move in moves:
        assert chess.Move.from_uci(move) in line.legal_moves, f"{move} is not legal"
        line.push_uci(move)
    plies = next(plies for plies in range(1, 99) if f"the next {plies} plies" in user)
    assert 4 <= plies <= 6 and len(moves) <= plies, f"{len(moves)} of {plies} plies"
    if end == "mate":
        assert line.is_checkmate(), "no mate"
    else:
        assert len(moves) == plies and not line.is_checkmate(), "too short, or a mate"
        assert end == f"[Δ{int(end[2:-1]):+d}]", f"the difference {end}"
    return []


def factual(board, user, target, values):
    return check_facts(board, user.split(DIRECT)[1].split("\n"), target.split(" "), values)


BUILDERS = {"best_move": best_move, "best_line": best_line, "factual": factual}


def check_example(example, values=None):
    """What the example's facts are; AssertionError with what is wrong."""
    assert list(example) == ["id", "messages", "meta"], f"keys {list(example)}"
    assert [message["role"] for message in example["messages"]] == ["system", "user", "assistant"], "the roles"
    system, user, target = (message["content"] for message in example["messages"])
    meta, builder = example["meta"], example["meta"]["builder"]
    board = position(meta["fen"])
    form(board, user)
    assert system and target, "an empty message"
    if builder == "verbalised":
        assert check_search(board, target) == meta["move"], "another move in `meta`"
        return []
    found = BUILDERS[builder](board, user, target, values)
    assert builder != "factual" or meta["questions"] == len(found), "another number of questions in `meta`"
    return found


def main(arguments):
    options = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    values = evaluations(options["evaluations"]) if "evaluations" in options else {}
    apart = {place(item["input"]) for item in read(options["apart"])} if "apart" in options else set()
    checked, facts, faults = Counter(), Counter(), []
    for path in (argument for argument in arguments if "=" not in argument):
        rows = read(path)
        items = [row for row in rows if "task_id" in row]
        for row in rows:
            name, fen = (row["task_id"], row["input"]) if "task_id" in row else (row["id"], row.get("meta", {}).get("fen", ""))
            try:
                assert place(fen) not in apart, "its board is among those that it must be apart from"
                assert not values or fen in values, "its position has no evaluation"
                if "task_id" in row:
                    check_item(row, int(options.get("legal_min", 3)), values.get(fen))
                    checked[row["task_type"]] += 1
                elif row["meta"]["builder"] in {"verbalised", *BUILDERS}:
                    facts.update(check_example(row, values.get(fen)))
                    checked[row["meta"]["builder"]] += 1
                else:
                    checked["not checked"] += 1
            except Exception as fault:  # a line of any shape may be wrong in any way
                faults.append(f"{path}: {name}: {type(fault).__name__}: {fault}")
        try:
            check_set(items)
            ids = [row["id"] for row in rows if "id" in row]
            assert len(set(ids)) == len(ids), "an id is there twice"
        except AssertionError as fault:
            faults.append(f"{path}: {fault}")
    for fault in faults[:20]:
        print(fault)
    answers = {f"{kind} {answer}": number for (kind, answer), number in sorted(facts.items()) if answer in ("Yes", "No")}
    print(json.dumps({"checked": dict(checked), "answers": answers, "faults": len(faults)}))
    return 1 if faults or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
