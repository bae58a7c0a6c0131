"""Items of the four tasks, verified from their FEN and their values alone."""

import ast
import math
import re
import statistics

import chess

from reasoning_boards import form, legal, place, position

KEYS = [
    "task_id",
    "task_type",
    "task_category",
    "input",
    "question",
    "format_examples",
    "correct_answer",
    "answer_type",
    "metadata",
]
THRESHOLD, CANDIDATES, MIN_MOVES = 0.2, 5, 3


def check_item(item, legal_min, values=None):
    """AssertionError with what is wrong; `values` are those of the position where another file has them."""
    assert list(item) == KEYS, f"keys {list(item)}"
    assert re.fullmatch(re.escape(item["task_type"]) + r"_\d{4,}", item["task_id"]), "a task_id of another task"
    assert (item["task_category"], item["answer_type"], item["format_examples"]) == ("Reasoning", "graded", [])
    board, known = position(item["input"]), item["metadata"]
    assert known["system"], "no system message"
    form(board, item["question"])
    assert sorted(known["values"]) == legal(board), "the values are not those of the legal moves"
    for uci, win in known["values"].items():
        assert 0 <= win <= 1 and round(win, 12) == win, f"the value {win} of {uci}"
        assert values is None or abs(values[uci] - win) < 1e-11, f"the value of {uci} is {values[uci]}, not {win}"
    CHECKS[item["task_type"]](item, board, known, legal_min)


def predict_move(item, board, known, _):
    assert len(known["values"]) >= MIN_MOVES, "too few legal moves"
    best = max(known["values"].values())
    wanted = ", ".join(sorted(uci for uci, win in known["values"].items() if win == best))
    assert item["correct_answer"] == wanted, f"the best moves are {wanted}"
    assert "best" in item["question"] and "[" not in after_board(item), "the question"


def answer_and_pool(values, wants_best):
    """The answer, the first of equal ones, and the moves that may stand beside it."""
    sign = 1 if wants_best else -1
    answer = min(sorted(values), key=lambda uci: -sign * values[uci])
    return answer, [uci for uci in sorted(values) if sign * values[uci] < sign * values[answer] - THRESHOLD]


def after_board(item):
    """What the question says below the board."""
    return item["question"].split("\n\n")[-1]


def among_candidates(item, board, known, _):
    wants_best = item["task_type"].endswith("best_move")
    answer, pool = answer_and_pool(known["values"], wants_best)
    assert item["correct_answer"] == answer, f"the answer is {answer}"
    assert len(pool) >= CANDIDATES - 1, "too few moves beyond the threshold"
    candidates = known["candidates"]
    assert len(set(candidates)) == len(candidates) == CANDIDATES and answer in candidates, "the candidates"
    assert set(candidates) - {answer} <= set(pool), "a candidate is within the threshold"
    (shown,) = re.findall(r"\[[^]]*\]", after_board(item).split("?")[0])
    assert ast.literal_eval(shown) == candidates, "the question shows other candidates"
    assert ("worst" in after_board(item)) != wants_best, "the question asks for the other end"


def legal_moves(item, board, known, legal_min):
    square = chess.parse_square(known["square"])
    piece = board.piece_at(square)
    assert piece and piece.color == board.turn, "no own piece on the square"
    name = f"{chess.COLOR_NAMES[piece.color]} {chess.piece_name(piece.piece_type)}"
    assert known["piece"] == name, f"the piece is a {name}"
    assert f"{name} at {known['square']}" in after_board(item), "the question names another piece"
    moves = [uci for uci in legal(board) if uci.startswith(known["square"])]
    assert len(moves) >= legal_min, "too few moves"
    assert item["correct_answer"] == ", ".join(moves), f"its moves are {moves}"


CHECKS = {
    "reasoning_predict_move": predict_move,
    "reasoning_best_move": among_candidates,
    "reasoning_worst_move": among_candidates,
    "reasoning_legal_moves": legal_moves,
}


def check_set(items):
    """AssertionError if an id or a board of a task is there twice, or answers and candidates do not look drawn by chance."""
    assert len({item["task_id"] for item in items}) == len(items), "a task_id is there twice"
    for task in CHECKS:
        boards = [place(item["input"]) for item in items if item["task_type"] == task]
        assert len(set(boards)) == len(boards), f"{task}: a board is there twice"
    drawn = [item for item in items if "candidates" in item["metadata"]]
    if len(drawn) < 200:
        return
    places = [item["metadata"]["candidates"].index(item["correct_answer"]) for item in drawn]
    expected = len(drawn) / CANDIDATES
    squared = sum((places.count(at) - expected) ** 2 / expected for at in range(CANDIDATES))
    assert squared < 18.47, f"places of the answer {[places.count(at) for at in range(CANDIDATES)]}: chi squared {squared:.1f}"
    # Ranks of the drawn candidates within their pools have the mean and variance of draws without replacement.
    total = variance = 0.0
    for item in drawn:
        values = item["metadata"]["values"]
        answer, pool = answer_and_pool(values, item["task_type"].endswith("best_move"))
        ranked = sorted(pool, key=lambda uci: (values[uci], uci))
        taken, size = [ranked.index(uci) for uci in item["metadata"]["candidates"] if uci != answer], len(pool)
        total += statistics.fmean(taken) - (size - 1) / 2
        variance += (size + 1) * (size - len(taken)) / 12 / len(taken)
    z = total / math.sqrt(variance)
    assert abs(z) < 3.3, f"candidates are not uniform over their pools: z = {z:.1f}"
