"""Plays with `cwm uci` as python-chess's client of engines: `uci_client.py COMMAND...`.

Prints a JSON object: the engine's name, the moves of a game against itself, and its answer in a position set up by a FEN.
"""

import json
import sys

import chess
import chess.engine

PLIES = 12

with chess.engine.SimpleEngine.popen_uci(sys.argv[1:], timeout=60) as engine:
    board = chess.Board()
    for ply in range(PLIES):
        # Every way in which a search can be limited.
        limit = [chess.engine.Limit(time=1), chess.engine.Limit(nodes=1), chess.engine.Limit(depth=3),
                 chess.engine.Limit(white_clock=9, black_clock=9, white_inc=1, black_inc=1)][ply % 4]
        played = engine.play(board, limit, game="one", info=chess.engine.INFO_ALL)
        assert played.info["pv"] == [played.move], played
        board.push(played.move)  # python-chess has refused it already, if it is not legal
    only = engine.play(board, chess.engine.Limit(nodes=1), root_moves=[next(iter(board.legal_moves))])
    assert only.move == next(iter(board.legal_moves))
    with engine.analysis(board) as analysis:
        analysis.stop()
        assert analysis.wait().move in board.legal_moves
    alone = engine.play(chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"), chess.engine.Limit(nodes=1), game="two")
    print(json.dumps({
        "name": engine.id["name"],
        "moves": [move.uci() for move in board.move_stack],
        "alone": alone.move.uci() if alone.move else None,
    }))
