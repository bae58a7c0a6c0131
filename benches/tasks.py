"""What python-chess and plain Python make of the lines of a file: a line for each, and last the CPU seconds.

`truths`, `facts`: of a FEN, the answers to the 14 tasks of Structural and Motifs, and all that `factual` asks about.
`rewards`: of an item and a text, verdict and reward. `claims`: of a FEN and a text, its claims, true or not.
"""

import ast
import json
import re
import sys
import time
from itertools import islice, takewhile

import chess
from reasoning_boards import KINDS, WORTH, legal
from reasoning_facts import advantage, captures, theirs

NAMES = chess.SQUARE_NAMES
STRAIGHT, DIAGONAL = ((1, 0), (-1, 0), (0, 1), (0, -1)), ((1, 1), (-1, -1), (-1, 1), (1, -1))
STEPS = {chess.ROOK: STRAIGHT, chess.BISHOP: DIAGONAL, chess.QUEEN: STRAIGHT + DIAGONAL}
FORWARD = STRAIGHT[::2] + DIAGONAL[::2]
VALUES = {kind: worth // 100 or 100 for kind, worth in WORTH.items()}
ANSWER, SQUARES = re.compile("<answer>(.*?)</answer>", re.DOTALL), re.compile(r"[a-zA-Z]\d(?:[a-zA-Z]\d)?")
MOVE = re.compile(r"(?<![^\W_])([a-hA-H][1-8])[-x]?([a-hA-H][1-8])=?([qrbnQRBN])?(?![^\W_])")
PIECE = re.compile(
    r"(?<![^\W_])(?:(white|black|my|our|your|their|opponent(?:['’]s)?)(?:['’]s)?\s+)?"
    r"(pawn|knight|bishop|rook|queen|king)\s+(?:on|at)\s+([a-h][1-8])(?![^\W_])",
    re.IGNORECASE,
)


def met(board, square, step):
    """The occupied squares behind one in a direction."""
    file, rank = chess.square_file(square) + step[0], chess.square_rank(square) + step[1]
    while 0 <= file < 8 and 0 <= rank < 8:
        if board.piece_at(chess.square(file, rank)):
            yield chess.square(file, rank)
        file, rank = file + step[0], rank + step[1]


def battery(board, square, piece, step):
    """The pieces of a battery that begins here; none if it begins elsewhere."""

    def moves_along(other):
        return board.color_at(other) == piece.color and step in STEPS.get(board.piece_type_at(other), ())

    before = takewhile(moves_along, met(board, square, (-step[0], -step[1])))
    return [] if list(before) else [square, *takewhile(moves_along, met(board, square, step))]


def truths(fen):
    board = chess.Board(fen)
    pieces, moves = sorted(board.piece_map().items()), sorted(board.legal_moves, key=lambda move: move.from_square)
    names = [f"{color} {kind}".title() for color in chess.COLOR_NAMES for kind in chess.PIECE_NAMES[1:]]
    words = {square: names[6 * piece.color + piece.piece_type - 1] for square, piece in pieces}
    arranged, reached, lines = {}, [[], [], []], {"pins": [], "skewers": [], "batteries": []}
    forks, checking, discovered, double = [], [], [], []
    for square, piece in sorted(pieces, key=lambda one: (not one[1].color, -one[1].piece_type, NAMES[one[0]])):
        arranged.setdefault(words[square], []).append(NAMES[square])
    for square, piece in pieces:
        targets = board.attacks(square) & board.occupied_co[not piece.color]
        if len(targets) > 1:
            forks.append(f"{NAMES[square]}>{'-'.join(sorted(NAMES[target] for target in targets))}")
        for step in STEPS.get(piece.piece_type, ()):
            run = battery(board, square, piece, step) if step in FORWARD else []
            lines["batteries"] += [run] if len(run) > 1 else []
            two = list(islice(met(board, square, step), 2))
            if len(two) == 2 and all(board.color_at(other) != piece.color for other in two):
                front, back = map(board.piece_type_at, two)
                lines["pins"] += [[square, *two]] if back == chess.KING else []
                lines["skewers"] += [[square, *two]] if VALUES[front] > VALUES[back] else []
    for move in moves:
        before, origin, uci = board.occupied, chess.BB_SQUARES[move.from_square], move.uci()
        board.push(move)
        checkers, king = board.checkers(), board.king(board.turn)
        sliders = [square for square in checkers if board.piece_type_at(square) in STEPS and square != move.to_square]
        board.pop()
        checking += [uci] if checkers else []
        double += [uci[:4]] if len(checkers) > 1 else []
        discovered += [uci[:4]] if any(chess.between(slider, king) & before == origin for slider in sliders) else []
    officers = [(square, piece.color) for square, piece in pieces if piece.piece_type in (*STEPS, chess.KNIGHT)]
    for square, color in officers[:1]:
        if not (board.is_pinned(color, square) and chess.between(board.king(color), square)):
            own, attacked = board.occupied_co[color], board.attacks(square)
            wanted = board.occupied & ~own, ~board.occupied, own & ~board.kings
            reached = [[NAMES[target] for target in attacked & mask] for mask in wanted]
    answers = [[f"{kind}: {squares}" for kind, squares in arranged.items()]]
    answers += [[move.uci() for move in moves if move.from_square == moves[0].from_square]]
    answers += [[move.uci() for move in moves]]
    answers += [[f"{words[square]} at {NAMES[square]}" for square in board.checkers()]]
    pins, skewers, batteries = ([">".join(NAMES[one] for one in line) for line in lines[kind]] for kind in lines)
    answers += [checking, *reached, pins, forks, batteries, skewers, set(discovered), set(double)]
    return "|".join(", ".join(sorted(", ".join(answer).split(", "))) for answer in answers)


def facts(fen):
    board, taken = chess.Board(fen), {}
    material, moves, other = advantage(board), legal(board), theirs(board)
    for origin, target in captures(board):
        taken.setdefault(target, []).append(origin)
    kinds = [[tuple(map(one.piece_type_at, pair)) for pair in captures(one)] if one else [] for one in (board, other)]
    found = [board.is_check(), material, abs(material) > 300, abs(material) < 120, " ".join(moves)]
    own = [NAMES[square] for square in chess.SquareSet(board.occupied_co[board.turn])]
    found += [" ".join(f"{square}{sum(uci.startswith(square) for uci in moves)}" for square in own)]
    for pairs in (set(kinds[0]), set(kinds[1]) - set(kinds[0])):
        found += [" ".join("".join(map(chess.piece_symbol, pair)) for pair in sorted(pairs))]
    found += [" ".join(NAMES[to] + NAMES[origins[0]] for to, origins in sorted(taken.items()) if len(origins) == 1)]
    return "|".join(str(one).lower() for one in found)


def read(text, wants_list):
    found = ANSWER.findall(text)
    if not found:
        return None
    answer = found[-1].strip()
    try:
        answer = ast.literal_eval(answer)
    except Exception:  # a text of any shape may fail in any way
        pass
    if isinstance(answer, str):
        words = [word for word in re.split(r"[\s,]+", answer) if SQUARES.fullmatch(word)] if wants_list else [answer]
        answer = words or None
    if not isinstance(answer, list) or not all(isinstance(one, str) for one in answer):
        return None
    answer = ["".join(filter(str.isalnum, one)) for one in answer]
    if wants_list:
        return answer if len(answer) <= 100 else None
    return answer[0] if len(answer) == 1 and len(answer[0]) <= 100 else None


def judged(item, text):
    task, answer = item["task"], read(text, item["task"] == "legal_moves")
    if answer is None:
        return "unreadable", {"predict_move": -0.5, "legal_moves": 0.0}.get(task, -0.2)
    if task == "legal_moves":
        found = sum(uci in answer for uci in item["answer"])
        return "scored", found / (len(item["answer"]) + len(answer) - found)
    if task == "predict_move":
        if answer not in item["values"]:
            return "illegal", -0.2
        least, most = min(item["values"].values()), max(item["values"].values())
        scaled = (item["values"][answer] - least) / (most - least) if most > least else 1.0
        return "legal", scaled if scaled >= 0.3 else 0.0
    if answer not in item["candidates"]:
        return "not_a_candidate", -0.2
    return ("right", 1.0) if answer == item["answer"] else ("wrong", 0.0)


def rewards(given):
    return "{} {:.9f}".format(*judged(*given))


def claims(given):
    board, text = given
    text = text[: text.rindex("<answer>")] if "<answer>" in text else text
    text = "\n".join(line for line in text.split("\n") if not re.match(r"\s*[1-8]\s*\|", line))
    moves, found = set(legal(board)), []
    for match in MOVE.finditer(text):
        uci = "".join(part or "" for part in match.groups()).lower()
        found.append(f"{uci} {uci in moves}")
    sides = {"white": chess.WHITE, "black": chess.BLACK, "my": board.turn, "our": board.turn, "your": board.turn}
    for match in PIECE.finditer(text):
        word, kind, square = (part and part.lower() for part in match.groups())
        piece = board.piece_at(chess.parse_square(square))
        is_named = piece is not None and piece.piece_type == KINDS[kind]
        found.append(f"{square} {is_named and (word is None or piece.color == sides.get(word, not board.turn))}")
    return ", ".join(found).lower()


if __name__ == "__main__":
    inputs = open(sys.argv[2], encoding="utf-8").read().rstrip("\n").split("\n")
    if sys.argv[1] in ("rewards", "claims"):
        inputs = [json.loads(line) for line in inputs]
    if sys.argv[1] == "claims":
        inputs = [(chess.Board(fen), text) for fen, text in inputs]
    needed = []
    for _ in range(3):
        start = time.process_time()
        results = list(map(globals()[sys.argv[1]], inputs))
        needed.append(time.process_time() - start)
    print("\n".join([*results, str(min(needed))]))
