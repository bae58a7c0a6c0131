"""The 75 labels of every position of a game, from its tokens (docs/formats.md, "The numbers").

The moves are legal, so a move only changes the board; nothing is checked. Games that carry their own labels
(`rules: authors`) do not work here; `cwm export STAGE.OUTPUT FOLDER --labels` exports the labels of all games.
"""

import numpy

LABELS = 75
START = 20480
# For each kind of label: the first one, their number, classes, and the first of the 1,878 logits.
GROUPS = [
    (0, 64, 13, 0),
    (64, 1, 2, 832),
    (65, 4, 2, 834),
    (69, 1, 9, 842),
    (70, 1, 3, 851),
    (71, 2, 256, 854),
    (73, 2, 256, 1366),
]
KING, QUEEN, ROOK, BISHOP, KNIGHT, PAWN = 6, 5, 4, 3, 2, 1
PROMOTED = [None, QUEEN, ROOK, BISHOP, KNIGHT]
# A king or rook that leaves its square, or a rook captured there, ends these rights: K, Q, k, q.
RIGHTS = {4: (0, 1), 7: (0,), 0: (1,), 60: (2, 3), 63: (2,), 56: (3,)}


def labels(tokens):
    """Tokens, START first, to uint8 [time, 75]: row t is the position after t plies."""
    board = [0] * 64  # a1 is 0; white pieces are 1 to 6, black ones 7 to 12
    for file, piece in enumerate((ROOK, KNIGHT, BISHOP, QUEEN, KING, BISHOP, KNIGHT, ROOK)):
        board[file], board[8 + file] = piece, PAWN
        board[56 + file], board[48 + file] = piece + 6, PAWN + 6
    rights, clock = [1, 1, 1, 1], 0
    rows = numpy.zeros((len(tokens), LABELS), numpy.uint8)
    rows[0] = row(board, 0, rights, (0, 0), 0, 0)
    for ply, token in enumerate(map(int, tokens[1:])):
        origin, target, promotion = token // 320, token // 5 % 64, token % 5
        black, moved = ply % 2, board[origin]
        piece = moved - 6 * black
        quiet = board[target] == 0
        board[origin], board[target] = 0, PROMOTED[promotion] + 6 * black if promotion else moved
        passant = (0, 0)
        if piece == PAWN:
            if quiet and (target - origin) % 8:
                board[origin // 8 * 8 + target % 8] = 0  # taken en passant
            if abs(target - origin) == 16:
                passant = (origin % 8 + 1, 1 + black)
        elif piece == KING and abs(target - origin) == 2:
            corner, beside = (origin + 3, origin + 1) if target > origin else (origin - 4, origin - 1)
            board[corner], board[beside] = 0, ROOK + 6 * black
        for square in (origin, target):
            for right in RIGHTS.get(square, ()):
                rights[right] = 0
        clock = clock + 1 if quiet and piece != PAWN else 0
        rows[ply + 1] = row(board, 1 - black, rights, passant, clock, ply + 1)
    return rows


def row(board, side, rights, passant, clock, plies):
    """One position as its labels; rank 8 comes first."""
    squares = [board[square ^ 56] for square in range(64)]
    clock, move = min(clock, 65535), min(plies // 2 + 1, 65535)
    return squares + [side, *rights, *passant, clock >> 8, clock & 255, move >> 8, move & 255]
