"""A verbalised search, verified from its text alone: every move, every word about it, and every number that follows from others."""

import re

import chess

from reasoning_boards import in_words, is_over

MATE, ROOT_BEHIND, BEHIND = 10_000, 100, 60
DEEPEST, MOST_BELOW, MOST_ROOTS = 2, 2, 3
SENTENCE = re.compile(r"(?<=[.?]) (?=[A-Z])")
NUMBER = re.compile(r"\[(v|mm)([+-]\d+)\]")
MOVE = re.compile(r"\(([a-h][1-8][a-h][1-8][qrbn]?)\)")


class Node:
    """A move of the text."""

    def __init__(self, board, move, score, depth):
        self.move, self.score, self.depth = move, score, depth
        self.after = board.copy(stack=False)
        self.after.push(move)
        self.children, self.is_cut, self.best = [], False, None

    def minimax(self):
        """What follows from the text: that of the followed children, otherwise the node's own value."""
        if not self.children:
            return self.score
        values = [child.minimax() for child in self.children if not child.is_cut or not child.has_hidden_lines()]
        assert values, f"no reply to {self.move.uci()} is followed"
        return min(values) if self.depth % 2 == 0 else max(values)

    def has_hidden_lines(self):
        """Whether moves below may be left out, so that the minimax is not in the text."""
        return self.is_cut and self.depth < DEEPEST and not is_over(self.after)

    def verify(self):
        """The laws of a node whose lines are in the text."""
        value = self.minimax()
        followed = [child for child in self.children if not child.is_cut]
        assert len(self.children) <= MOST_BELOW, f"{len(self.children)} moves after {self.move.uci()}"
        assert len({child.move for child in self.children}) == len(self.children), "a move is followed twice"
        for child in self.children:
            own = child.depth % 2 == 0
            if not child.has_hidden_lines():
                behind = value - child.minimax() if own else child.minimax() - value
                assert child.is_cut == (behind > BEHIND), f"{child.move.uci()} is behind by {behind}"
            if not child.is_cut:
                child.verify()
        assert (self.best is not None) == (len(followed) > 1), f"the best move after {self.move.uci()} is missing or too many"
        if self.best is not None:
            first = next(child for child in followed if child.minimax() == value)
            assert self.best == (first.move, value), f"the best after {self.move.uci()} is {first.move.uci()} with {value}"


def described(board, sentence, end):
    """The move whose words and text end at `end` of the sentence; it must be legal, and its words true."""
    uci = MOVE.search(sentence, 0, end + 1)
    move = chess.Move.from_uci(list(MOVE.finditer(sentence, 0, end))[-1][1])
    assert uci and move in board.legal_moves, f"an illegal move: {sentence}"
    assert in_words(board, move) in sentence, f"not `{in_words(board, move)}`: {sentence}"
    return move


def number(sentence):
    """Kind, value and place of the one number of a sentence; None if it has none."""
    found = list(NUMBER.finditer(sentence))
    assert len(found) <= 1, f"two numbers: {sentence}"
    return (found[0][1], int(found[0][2]), found[0].start()) if found else None


def terminal_score(node, root_player):
    """What a finished game is worth; None if it goes on."""
    if not is_over(node.after):
        return None
    if node.after.is_checkmate():
        return MATE if node.after.turn != root_player else -MATE
    return 0


def read_root(board, paragraph):
    """A root move and the value that the text gives it: (node, minimax, whether its lines are left out)."""
    path, root_value = [], None
    for line in paragraph.split("\n"):
        depth = 0
        while line.startswith("| "):
            depth, line = depth + 1, line[2:]
        assert line and depth <= DEEPEST, f"an empty or too deep line: {line!r}"
        for sentence in SENTENCE.split(line):
            found = number(sentence)
            if found is None:
                assert not MOVE.search(sentence) and path and path[-1].depth == depth, f"out of place: {sentence}"
                assert not path[-1].children and not path[-1].is_cut and depth > 0, f"out of place: {sentence}"
                path[-1].is_cut = True
                continue
            kind, value, at = found
            if not MOVE.search(sentence):
                assert (kind, depth, root_value) == ("mm", 0, None) and path, f"out of place: {sentence}"
                root_value = value
            elif kind == "v":
                assert root_value is None and depth <= len(path) and (path or depth == 0), f"out of place: {sentence}"
                before = path[depth - 1].after if depth else board
                node = Node(before, described(before, sentence, at), value, depth)
                score = terminal_score(node, board.turn)
                assert score in (None, value), f"the game is over, which is worth {score}: {sentence}"
                if depth:
                    parent = path[depth - 1]
                    assert not parent.is_cut and parent.best is None, f"out of place: {sentence}"
                    parent.children.append(node)
                else:
                    assert not path, "two root moves in a paragraph"
                path = [*path[:depth], node]
            else:
                assert 0 < depth <= len(path), f"out of place: {sentence}"
                parent = path[depth - 1]
                move = described(parent.after, sentence, at)
                listed = re.findall(r"\b(?:[a-h][1-8]){2}[qrbn]?\b", MOVE.sub("", sentence))
                has_branch = any(child.children for child in parent.children)
                moves = [child.move.uci() for child in parent.children]
                assert listed == (moves if has_branch else []), f"not the moves {moves}: {sentence}"
                assert parent.best is None, f"twice: {sentence}"
                parent.best, path = (move, value), path[:depth]
    assert path and root_value is not None, f"no value: {paragraph}"
    root = path[0]
    is_left_out = not root.children and not is_over(root.after)
    return root, root_value, is_left_out


def check_search(board, text):
    """The move that the text answers; AssertionError with what is wrong."""
    shape = re.fullmatch(r"[^\n<]+\n<think> (.+) </think>\n\n<answer> (\S+) </answer>", text, re.DOTALL)
    assert shape, "not of the form"
    *paragraphs, last = shape[1].split("\n\n")
    roots = [read_root(board, paragraph) for paragraph in paragraphs]
    moves = board.legal_moves.count()
    assert min(2, moves) <= len(roots) <= min(MOST_ROOTS, moves), f"{len(roots)} root moves of {moves}"
    assert len({root.move for root, _, _ in roots}) == len(roots), "a root move twice"
    best, greatest, _ = max(roots, key=lambda root: root[1])
    for root, value, is_left_out in roots:
        if is_left_out:
            assert value < greatest - ROOT_BEHIND, f"{root.move.uci()} is left out with {value}, the best has {greatest}"
        else:
            root.verify()
            assert root.minimax() == value, f"{root.move.uci()} has {root.minimax()}, not {value}"
    kind, value, at = number(last)
    assert (kind, value) == ("mm", greatest), f"the greatest value is {greatest}: {last}"
    assert described(board, last, at) == best.move, f"the best is {best.move.uci()}: {last}"
    assert shape[2] == best.move.uci(), f"the answer is {shape[2]}, the best {best.move.uci()}"
    return shape[2]
