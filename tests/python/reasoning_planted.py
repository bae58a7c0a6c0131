"""Tests the checker itself: golden items, facts, lines and searches have no fault, and each planted fault is found.

    python reasoning_planted.py reasoning-golden
"""

import copy
import random
import re

from reasoning_boards import form, legal, position, texts
from reasoning_checker import DIRECT, check_example, win
from reasoning_facts import truth
from reasoning_golden import boards, example, fens, item, questions, rows
from reasoning_items import answer_and_pool, check_item
from reasoning_search import NUMBER, check_search


def faulty(check, *arguments):
    """Whether the check finds a fault."""
    try:
        check(*arguments)
    except Exception:
        return True
    return False


def changed(row, path, value):
    row = copy.deepcopy(row)
    *path, last = path
    place = row
    for key in path:
        place = place[key]
    place[last] = value(place[last])
    return row


def plant_in_items(tasks):
    """Each change of an item that makes it wrong, or its question, is found."""
    planted = missed = 0
    for good in tasks:
        known = good["metadata"]
        others = [uci for uci in known["values"] if uci != good["correct_answer"].split(", ")[0]]
        changes = [
            (("correct_answer",), lambda answer: others[0]),
            (("input",), lambda fen: re.sub(r"\d+$", "399", fen)),
            (("question",), lambda text: text.replace("turn to move", "move")),
            (("metadata", "values"), lambda values: {uci: values[uci] for uci in list(values)[1:]}),
            (("metadata", "values"), lambda values: {uci: win + 1 for uci, win in values.items()}),
            (("answer_type",), lambda kind: "single"),
            (("task_id",), lambda name: "reasoning_0000"),
        ]
        if "candidates" in known:
            _, pool = answer_and_pool(known["values"], "best" in good["task_type"])
            close = [uci for uci in others if uci not in pool]
            swapped = [*known["candidates"][1:], known["candidates"][0]]
            twice = [*known["candidates"][:4], known["candidates"][3]]
            for candidates in [swapped, twice, known["candidates"][:4], *[[good["correct_answer"], *pool[:3], uci] for uci in close[:1]]]:
                changes.append((("metadata", "candidates"), lambda _, candidates=candidates: candidates))
        if "square" in known:
            changes.append((("metadata", "piece"), lambda piece: "white elephant"))
            changes.append((("correct_answer",), lambda answer: answer[6:] or others[0]))
        for path, value in changes:
            bad = changed(good, path, value)
            if bad != good:
                planted += 1
                missed += not faulty(check_item, bad, 3)
    return planted, missed


def plant_in_searches(searches, draw):
    """Values, moves, words and paragraphs of searches are changed, so that the text contradicts itself or the rules."""
    planted = missed = 0
    for search in searches:
        board, text = position(search["fen"]), search["text"]
        bad = []
        for spot in NUMBER.finditer(text):
            # Nothing contradicts a lower value of a move whose lines are left out.
            has_lines = "\n" in re.split("\n\n|<think>", text[: spot.start()])[-1]
            for change in [20_000, -7][: 1 + has_lines] if spot[1] == "mm" else []:
                bad.append(text[: spot.start(2)] + f"{int(spot[2]) + change:+d}" + text[spot.end(2) :])
        for at in list(re.finditer(r"[a-h][1-8](?=[a-h])", text))[:4]:
            bad.append(text[: at.start()] + draw.choice("abcdefgh") + "9" + text[at.end() :])
        for old, new in [("white", "black"), ("moves to", "captures the pawn on"), ("<answer>", "<answer> a1a1"), ("| | ", "| ")]:
            bad.append(text.replace(old, new, 1))
        paragraphs = text.split("\n\n")
        bad += ["\n\n".join(paragraphs[1:]), "\n\n".join([*paragraphs[:-2], paragraphs[-1]]), text + "."]
        for one in bad:
            if one != text:
                planted += 1
                if not faulty(check_search, board, one):
                    missed += 1
                    print("missed:", one)
    return planted, missed


def main():
    draw = random.Random(0)
    for row in boards.values():
        shown = texts(position(fens[row["id"]]))
        assert all(shown[name] == row[name] for name in ("visual", "uniform_visual", "spaced_fen")), row["id"]
        assert form(position(fens[row["id"]]), f"a\n\n{row['visual']}\n\nb") == "visual"
    for row in rows("values"):
        scores = zip(row["moves"], row["cp"], row["mate"], row["win"])
        assert all(abs(win({"centipawns": cp, "mate": mate}) - value) < 1e-11 for _, cp, mate, value in scores), row["id"]

    tasks = rows("tasks")
    values = {row["position"]: row["values"] for row in tasks if row["task"] == "predict_move"}
    missing = [row for row in tasks if row["task"] in ("best_move", "worst_move") and not row["answer"]]
    for row in missing:
        if row["position"] in values:
            assert len(answer_and_pool(values[row["position"]], row["task"] == "best_move")[1]) < 4, row["id"]
    offered = [row for row in tasks if row not in missing and row.get("answer", True) and row["position"] in values]
    built = [(row, item(row, values[row["position"]])) for row in offered]
    for row, one in built:
        check_item(one, 3)
        if "pool" in row:
            answer, pool = answer_and_pool(values[row["position"]], row["task"] == "best_move")
            assert (answer, pool) == (row["answer"], sorted(row["pool"])), row["id"]

    asked = 0
    examples = []
    for facts in rows("facts"):
        board = position(fens[facts["id"]])
        assert facts["legal"] == legal(board)
        all_of = list(questions(facts, board))
        for question, answer in all_of:
            assert truth(board, question)[1] == answer, (facts["id"], question, answer)
        asked += len(all_of)
        # One question of each kind, and a second move.
        of = {truth(board, one[0])[0]: one for one in all_of if not one[0].startswith(("Which side", "Is the material"))}
        moves = [one for one in all_of if one[0].startswith("Can you leg") and one not in of.values()]
        chosen = [*of.values(), *moves[:1]]
        if 4 <= len(chosen) <= 6:
            text = DIRECT + "\n".join(question for question, _ in chosen)
            answers = " ".join(answer for _, answer in chosen)
            examples.append(example("factual", fens[facts["id"]], text, answers, questions=len(chosen)))
    for row in rows("lines"):
        for plies, target in row["targets"].items():
            if target:
                asked_for = f"What are the next {plies} plies if both sides play their best moves?"
                examples.append(example("best_line", fens[row["id"]], asked_for, target, plies=int(plies)))
    searches = rows("searches")
    for search in searches:
        assert check_search(position(search["fen"]), search["text"]) == search["answer"], search["id"]
    for one in examples:
        check_example(one)

    planted = [plant_in_items([one for _, one in built]), plant_in_searches(searches, draw)]
    of_examples = missed = 0
    for one in examples:
        target = one["messages"][2]["content"]
        bad = []
        for at, answer in enumerate(target.split(" ")):
            other = {"Yes": "No", "No": "Yes"}.get(answer) or (str(int(answer) + 1) if re.fullmatch(r"-?\d+", answer) else "a1h9")
            bad.append(" ".join([*target.split(" ")[:at], other, *target.split(" ")[at + 1 :]]))
        bad += [target.split(" ", 1)[1], target + " Yes"]
        for text in bad:
            of_examples += 1
            missed += not faulty(check_example, changed(one, ("messages", 2, "content"), lambda _, text=text: text))
    planted.append((of_examples, missed))
    assert all(missed == 0 and count > 100 for count, missed in planted), planted
    found = [count for count, _ in planted]
    print(f"{len(built)} items, {asked} facts, {len(examples)} examples, {len(searches)} searches; planted faults found: {found}")


main()
