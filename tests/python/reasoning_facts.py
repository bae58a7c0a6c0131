"""Every question and answer of `factual` examples, verified from the FEN alone."""

import re

import chess

from reasoning_boards import KINDS, WORTH, legal

YES = {True: "Yes", False: "No"}
MOST = {"check": 1, "legal": 3, "capture": 2, "material": 1, "mobility": 2, "only_capture": 2, "which_of_two": 2}
MOST |= dict.fromkeys(["large_advantage", "balanced", "win_probability"], 1)
DIFFERENT = 0.25


def captures(board):
    """(origin, target) of the legal captures, en passant apart; promotions count four times."""
    taking = [move for move in board.legal_moves if board.is_capture(move) and not board.is_en_passant(move)]
    return [(move.from_square, move.to_square) for move in taking]


def theirs(board):
    """The board with the opponent to move; None while that would be no position."""
    if board.is_check():
        return None
    other = board.copy(stack=False)
    other.push(chess.Move.null())
    other.ep_square = None
    return other


def is_pattern(board, move):
    """Whether an own piece moves so on an empty board, and not onto an own piece; a pawn also as it captures."""
    piece, target = board.piece_at(move.from_square), board.piece_at(move.to_square)
    if not piece or piece.color != board.turn or (target and target.color == board.turn):
        return False
    empty = chess.Board(None)
    empty.set_piece_at(move.from_square, piece)
    if piece.piece_type != chess.PAWN:
        return move.to_square in empty.attacks(move.from_square)
    step, first = (8, 1) if piece.color else (-8, 6)
    ahead = [move.from_square + step]
    if chess.square_rank(move.from_square) == first:
        ahead.append(move.from_square + 2 * step)
    return move.to_square in empty.attacks(move.from_square) or move.to_square in ahead


def check(board, color):
    return YES[board.is_check() and board.turn == (color == "white")]


def can_play(board, uci):
    move, other = chess.Move.from_uci(uci), theirs(board)
    if uci in legal(board):
        return "Yes"
    opponents = other is not None and uci in legal(other)
    own = board.is_pseudo_legal(move) if board.is_check() else is_pattern(board, move)
    assert opponents or own, f"{uci} is neither the opponent's nor the pattern of an own piece"
    return "No"


def capture(board, own, their):
    def pairs(board):
        return {(board.piece_type_at(origin), board.piece_type_at(target)) for origin, target in captures(board)}

    pair, other = (KINDS[own], KINDS[their]), theirs(board)
    if pair in pairs(board):
        return "Yes"
    assert (other is not None and pair in pairs(other)) or (
        board.pieces(pair[0], board.turn) and board.pieces(pair[1], not board.turn)
    ), f"there is no {own} or no {their}"
    bare = chess.popcount(board.occupied_co[not board.turn]) == 1
    assert pair[1] != chess.KING or bare, "the king is no target"
    return "No"


def advantage(board):
    """White's material less Black's."""
    of = {side: sum(WORTH[kind] * len(board.pieces(kind, side)) for kind in WORTH) for side in chess.COLORS}
    return of[chess.WHITE] - of[chess.BLACK]


def material(board, color, other):
    assert color != other, "one colour twice"
    return str(advantage(board) * (1 if color == "white" else -1))


def large_advantage(board):
    return "none" if abs(advantage(board)) <= 300 else "white" if advantage(board) > 0 else "black"


def balanced(board):
    return YES[abs(advantage(board)) < 120]


def mobility(board, kind, square):
    piece = board.piece_at(chess.parse_square(square))
    assert piece == chess.Piece(KINDS[kind], board.turn), f"there is no own {kind} at {square}"
    return str(sum(uci.startswith(square) for uci in legal(board)))


def only_capture(board, kind, square):
    target = chess.parse_square(square)
    assert board.piece_at(target) == chess.Piece(KINDS[kind], not board.turn), f"there is no {kind} of theirs on {square}"
    taking = [origin for origin, to in captures(board) if to == target]
    assert len(taking) == 1, f"{len(taking)} captures on {square}"
    return chess.square_name(taking[0])


def win_probability(values):
    return f"{100 * max(values.values()):.1f}"


def which_of_two(values, kind, origin, *targets):
    pair = [max(win for uci, win in values.items() if uci.startswith(origin + target)) for target in targets]
    assert abs(pair[0] - pair[1]) >= DIFFERENT, f"the values {pair} are too alike"
    return targets[0] if pair[0] > pair[1] else targets[1]


PIECE, SQUARE = "(pawn|knight|bishop|rook|queen|king)", "([a-h][1-8])"
QUESTIONS = [
    ("check", r"Is the (white|black) king in check \(Yes or No\)\?", check),
    ("legal", r"Can you legally play ([a-h][1-8][a-h][1-8][qrbn]?) \(Yes or No\)\?", can_play),
    ("capture", rf"Can your {PIECE} take their {PIECE} \(Yes or No\)\?", capture),
    (
        "material",
        r"What is (white|black)'s material less (white|black)'s in centipawns, if a pawn is worth 100, a knight 320, a bishop 330, "
        r"a rook 500, a queen 900 and a king 0\?",
        material,
    ),
    ("mobility", rf"How many legal moves has your {PIECE} at {SQUARE}\?", mobility),
    ("only_capture", rf"Which of your squares holds the only piece that can take their {PIECE} on {SQUARE}\?", only_capture),
    ("large_advantage", r"Which side is ahead by more than 300 centipawns of material \(white, black or none\)\?", large_advantage),
    ("balanced", r"Is the material balanced, with less than 120 centipawns between the sides \(Yes or No\)\?", balanced),
]
# Their answers follow from the values of the moves, and not from the board.
VALUED = [
    ("win_probability", r"What is your probability of winning in percent, with one decimal\?", win_probability),
    ("which_of_two", rf"Which square is better for your {PIECE} at {SQUARE}: {SQUARE} or {SQUARE}\?", which_of_two),
]


def truth(board, question, values=None):
    """The kind and the true answer of a question; AssertionError if it has none."""
    for source, rules in ((board, QUESTIONS), (values, VALUED)):
        for kind, pattern, rule in rules:
            if match := re.fullmatch(pattern, question):
                assert source, f"only `evaluations` answer this: {question}"
                return kind, rule(source, *match.groups())
    raise AssertionError(f"an unknown question: {question}")


def check_facts(board, questions, answers, values=None):
    """The kind and answer of each question; AssertionError with what is wrong."""
    assert len(questions) == len(answers) and 4 <= len(questions) <= 6, f"{len(questions)} questions, {answers}"
    assert len(set(questions)) == len(questions), "a question is there twice"
    kinds = []
    for question, answer in zip(questions, answers):
        kind, true = truth(board, question, values)
        assert true == answer, f"{question} {answer}, but {true} is true"
        kinds.append((kind, answer))
    for kind, most in MOST.items():
        assert sum(kind == one for one, _ in kinds) <= most, f"too many questions of {kind}"
    return kinds
