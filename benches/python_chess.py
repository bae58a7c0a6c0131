"""What python-chess needs for the games on standard input: `read` replays them, `label` also writes each game with the
75 labels of all its positions as a line of JSON, as the authors' program does."""

import io
import json
import sys

import chess
import chess.pgn

CLASSES = {symbol: number for number, symbol in enumerate(".PNBRQKpnbrqk")}


def labels(board):
    row = [0] * 64
    for square, piece in board.piece_map().items():
        row[square ^ 56] = CLASSES[piece.symbol()]
    row.append(int(board.turn == chess.BLACK))
    for corner in (chess.H1, chess.A1, chess.H8, chess.A8):
        row.append(int(bool(board.castling_rights & chess.BB_SQUARES[corner])))
    square = board.ep_square
    row.append(0 if square is None else chess.square_file(square) + 1)
    row.append(0 if square is None else (1 if chess.square_rank(square) == 2 else 2))
    for clock in (board.halfmove_clock, board.fullmove_number):
        row += [clock >> 8 & 255, clock & 255]
    return row


def main():
    text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8")
    games = 0
    while (game := chess.pgn.read_game(text)) is not None:
        games += 1
        if sys.argv[1] == "label":
            board = game.board()
            rows = [labels(board)]
            for move in game.mainline_moves():
                board.push(move)
                rows.append(labels(board))
            moves = [move.uci() for move in game.mainline_moves()]
            sys.stdout.write(json.dumps({"site": game.headers["Site"], "moves": moves, "labels": rows}) + "\n")
    print(games, file=sys.stderr)


main()
