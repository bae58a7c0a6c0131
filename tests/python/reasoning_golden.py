"""Golden data of reasoning as items, examples, and questions with their answers; the folder is the program's first argument."""

import json
import pathlib
import sys

import chess

from reasoning_boards import KINDS, position, texts

golden = pathlib.Path(sys.argv[1])


def rows(name):
    return [json.loads(line) for line in (golden / f"{name}.jsonl").open(encoding="utf-8")]


fens = {row["id"]: row["fen"] for row in rows("positions")}
boards = {row["id"]: row for row in rows("boards")}


def item(row, values):
    """A golden task as an item."""
    task, board = row["task"], position(fens[row["position"]])
    known = {"system": "s", "values": values}
    asked, answer = "Find the best move.", ", ".join(uci for uci in sorted(values) if values[uci] == max(values.values()))
    if task in ("best_move", "worst_move"):
        known["candidates"], answer = row["candidates"], row["answer"]
        asked = f"Which of these moves is the {task.split('_')[0]}: {row['candidates']}?"
    if task == "legal_moves":
        known |= {"square": row["square"], "piece": row["piece"]}
        asked, answer = f"List all legal moves of the {row['piece']} at {row['square']}.", ", ".join(row["answer"])
    head = {"task_id": f"reasoning_{task}_0000", "task_type": f"reasoning_{task}", "task_category": "Reasoning"}
    question = f"It is your turn.\n\n{texts(board)['visual']}\n\n{asked}"
    head |= {"input": fens[row["position"]], "question": question, "format_examples": [], "correct_answer": answer}
    return head | {"answer_type": "graded", "metadata": known}


def example(builder, fen, question, target, **meta):
    board = texts(position(fen))["uniform_visual"]
    user = f"Here is a chess position:\n\n{board}\n\n{question}"
    messages = [("system", "s"), ("user", user), ("assistant", target)]
    messages = [{"role": role, "content": content} for role, content in messages]
    return {"id": f"{builder}-000000", "messages": messages, "meta": {"builder": builder, "fen": fen, **meta}}


def questions(facts, board):
    """Every question of a position with its golden answer, some that only illegal moves and pairs answer with No aside."""
    for color in ("white", "black"):
        other = "black" if color == "white" else "white"
        yield f"Is the {color} king in check (Yes or No)?", "Yes" if facts["in_check"] == color else "No"
        worth = "if a pawn is worth 100, a knight 320, a bishop 330, a rook 500, a queen 900 and a king 0?"
        sign = 1 if color == "white" else -1
        yield f"What is {color}'s material less {other}'s in centipawns, {worth}", str(sign * facts["material_white"])
    large = "Which side is ahead by more than 300 centipawns of material (white, black or none)?"
    yield large, facts["large_advantage"] or "none"
    balanced = "Is the material balanced, with less than 120 centipawns between the sides (Yes or No)?"
    yield balanced, "Yes" if facts["balanced"] else "No"
    for uci in facts["legal"]:
        yield f"Can you legally play {uci} (Yes or No)?", "Yes"
    names = {kind.lower(): name for name, kind in zip(KINDS, "PNBRQK")}
    for pairs, answer in ((facts["capture_pairs"], "Yes"), (facts["their_capture_pairs"], "No")):
        for own, their in pairs:
            yield f"Can your {names[own]} take their {names[their]} (Yes or No)?", answer

    def kind(square):
        piece = board.piece_at(chess.parse_square(square))
        return names[piece.symbol().lower()]

    for square, moves in facts["mobility"].items():
        yield f"How many legal moves has your {kind(square)} at {square}?", str(moves)
    for target, origin in facts["only_capture"].items():
        asked = f"Which of your squares holds the only piece that can take their {kind(target)} on {target}?"
        yield asked, origin
