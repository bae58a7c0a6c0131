"""Positions, as text and in words, by python-chess alone: what the checkers of items and examples share."""

import chess

WORTH = {chess.PAWN: 100, chess.KNIGHT: 320, chess.BISHOP: 330, chess.ROOK: 500, chess.QUEEN: 900, chess.KING: 0}
KINDS = {name: kind for kind, name in enumerate(chess.PIECE_NAMES) if name}


def position(fen):
    """The board of a FEN of six fields with an en passant square only where a capture is legal; AssertionError otherwise."""
    board = chess.Board(fen)
    assert board.is_valid(), f"no position of a game: {fen}"
    assert board.fen(en_passant="legal") == fen, f"not written as {board.fen(en_passant='legal')}: {fen}"
    return board


def place(fen):
    """What makes two positions the same: the first four fields."""
    return " ".join(fen.split()[:4])


def legal(board):
    return sorted(move.uci() for move in board.legal_moves)


def drawing(board, end, margin):
    lines = []
    for rank in range(7, -1, -1):
        pieces = [board.piece_at(chess.square(file, rank)) for file in range(8)]
        lines.append(f"{rank + 1}| " + " ".join(piece.symbol() if piece else "." for piece in pieces))
    lines += [margin + "  _ _ _ _ _ _ _ _", margin + "  A B C D E F G H"]
    rights = [
        f"{name} can castle {side}"
        for color, name in ((chess.WHITE, "White"), (chess.BLACK, "Black"))
        for side, has in (
            ("kingside", board.has_kingside_castling_rights(color)),
            ("queenside", board.has_queenside_castling_rights(color)),
        )
        if has
    ]
    passant = chess.square_name(board.ep_square) if board.has_legal_en_passant() else None
    return "".join(line + end + "\n" for line in lines) + "\n".join(
        [
            "",
            f"- It is {'White' if board.turn else 'Black'}\u2019s turn to move.",
            f"- Castling rights: {', '.join(rights)}." if rights else "- No castling rights available.",
            f"- En passant target square: {passant}." if passant else "- No en passant target square.",
            f"- Halfmove clock: {board.halfmove_clock}",
            f"- Fullmove number: {board.fullmove_number}",
        ]
    )


def texts(board):
    """The four forms of a position as text."""
    fen = board.fen(en_passant="legal")
    placement, rest = fen.split(" ", 1)
    return {
        "visual": drawing(board, "", " "),
        "uniform_visual": drawing(board, " ", "#"),
        "fen": fen,
        "spaced_fen": " ".join(placement) + "  " + rest,
    }


def form(board, text):
    """The form in which a message shows the board, as a paragraph of its own; AssertionError if it shows none or several."""
    found = [name for name, shown in texts(board).items() if f"\n\n{shown}\n\n" in text]
    assert len(found) == 1, f"the message shows the board in {len(found)} forms: {found}"
    return found[0]


def is_over(board):
    """Whether the game ends here, with draws that can be claimed."""
    return not any(board.legal_moves) or board.is_insufficient_material() or board.halfmove_clock >= 100


def in_words(board, move):
    """A legal move in words, with its UCI text in brackets."""
    color = chess.COLOR_NAMES[board.turn]
    if board.is_castling(move):
        text = f"{color} castles {'kingside' if board.is_kingside_castling(move) else 'queenside'}"
    else:
        name, to = chess.piece_name(board.piece_type_at(move.from_square)), chess.square_name(move.to_square)
        victim = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square)
        text = f"{color} {name} " + (f"captures the {chess.piece_name(victim)} on {to}" if victim else f"moves to {to}")
    if move.promotion:
        text += f", promoting to {chess.piece_name(move.promotion)}"
    after = board.copy(stack=False)
    after.push(move)
    if after.is_checkmate():
        text += " delivering checkmate"
    elif after.is_check():
        text += " putting the king in check"
    return f"{text} ({move.uci()})"
