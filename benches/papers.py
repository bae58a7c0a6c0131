"""What plain Python and python-chess need for lines on standard input.

`boards`: FENs, each as ChessBench's 77 characters by number; `checked-boards`: the same, of FENs followed by a move in UCI, with the
position and the move checked, as `encode` does; `transpositions`: games as UCI moves, all of whose prefixes are
sorted by the position in which they end.
"""

import sys
from collections import defaultdict

SYMBOLS = {symbol: number for number, symbol in enumerate("0123456789abcdefghpnrkqPBNRQKw.")}


def encoded(fen):
    board, side, castling, en_passant, halfmoves, fullmoves = fen.split()
    text = side
    for symbol in board.replace("/", ""):
        text += "." * int(symbol) if symbol.isdigit() else symbol
    text += castling.replace("-", ".").ljust(4, ".") + en_passant.replace("-", ".").ljust(2, ".")
    text += halfmoves.ljust(3, ".") + fullmoves.ljust(3, ".")
    return [SYMBOLS[symbol] for symbol in text]


def checked(line):
    import chess

    fen, move = line.rsplit(maxsplit=1)
    board = chess.Board(fen)
    assert board.is_valid() and chess.Move.from_uci(move) in board.legal_moves
    return encoded(fen)


def classes(lines):
    import chess

    found = defaultdict(list)
    for game, line in enumerate(lines):
        board = chess.Board()
        for ply, move in enumerate(line.split(), 1):
            board.push_uci(move)
            found[board.epd()].append((game, ply))
    return found


if __name__ == "__main__":
    if sys.argv[1] == "boards":
        print(sum(len(encoded(line)) for line in sys.stdin))
    elif sys.argv[1] == "checked-boards":
        print(sum(len(checked(line)) for line in sys.stdin))
    else:
        print(len(classes(sys.stdin)))
