"""Computes every number of a `bins` folder again, from the scores themselves, with numpy.

    python bins.py BINS BIN_WIDTH LABEL=SCORES...

Counts and errors must be equal, means equal to the last digits of a float, ends of intervals as near as another 2,000
draws by another generator leave open.
"""

import os
import sys

import numpy
import pyarrow.parquet as parquet

RESAMPLES = 2_000
ALL_SQUARES, ALL_STATE = numpy.uint64(2**64 - 1), numpy.uint16(2**11 - 1)


class Scores:
    """One scores file as numpy columns, and its games drawn anew."""

    def __init__(self, path):
        table = parquet.read_table(path)
        column = {name: table[name].to_numpy() for name in table.column_names}
        self.t, self.loss, self.correct = column["t"], column["loss"], column["correct"].astype(numpy.int64)
        self.squares, self.state = column["right_squares"], column["right_state"]
        self.exact = (self.squares == ALL_SQUARES) & (self.state == ALL_STATE)
        assert (self.exact == column["exact"]).all()
        self.numbers, self.game = numpy.unique(column["game"], return_inverse=True)
        games = len(self.numbers)
        draws = numpy.random.default_rng(7).integers(games, size=(RESAMPLES, games))
        self.times = numpy.stack([numpy.bincount(drawn, minlength=games) for drawn in draws]).astype(float)

    def right(self, index):
        if index < 64:
            return self.squares >> numpy.uint64(index) & numpy.uint64(1) != 0
        return self.state >> numpy.uint16(index - 64) & numpy.uint16(1) != 0

    def per_game(self, values, inside):
        return numpy.bincount(self.game[inside], weights=values[inside], minlength=len(self.numbers))

    def interval(self, above, below):
        """Ends of the ratio of two sums over drawn games; None of fewer than two games, or of what is not finite."""
        if (below > 0).sum() < 2 or not numpy.isfinite(above).all():
            return None
        below = self.times @ below
        results = (self.times @ above)[below > 0] / below[below > 0]
        return numpy.quantile(results, [0.025, 0.975])

    def trajectory(self):
        return self.per_game(~self.exact, numpy.full(len(self.t), True)) == 0


def close(found, expected):
    assert numpy.isclose(found, expected, rtol=1e-12, atol=0, equal_nan=True), (found, expected)


def check_interval(row, metric, expected):
    found = [row[f"{metric}_low"], row[f"{metric}_high"]]
    if expected is None:
        assert found == [None, None], (metric, found)
        return
    # A tenth of the interval, or one of the steps in which the means of few games go.
    near = max(0.1 * (expected[1] - expected[0]), 1.5 / row["positions"])
    assert numpy.abs(numpy.array(found) - expected).max() <= near, (row["label"], metric, found, expected)


def check_metrics(row, scores, inside):
    assert row["positions"] == inside.sum()
    positions = scores.per_game(numpy.ones(len(inside)), inside)
    for metric, values in [("loss", scores.loss), ("labelwise", scores.correct / 75), ("exact", scores.exact * 1.0)]:
        close(row[metric], values[inside].mean())
        check_interval(row, metric, scores.interval(scores.per_game(values, inside), positions))


def rows(folder, name):
    return parquet.read_table(os.path.join(folder, name)).to_pylist()


def check(folder, width, files):
    scores = {label: Scores(path) for label, path in files}
    overall, prefix, errors = (rows(folder, f"{name}.parquet") for name in ("overall", "prefix", "errors"))
    assert [row["label"] for row in overall] == sorted(scores)
    for row in overall:
        of = scores[row["label"]]
        check_metrics(row, of, numpy.full(len(of.t), True))
        assert row["games"] == len(of.numbers)
        close(row["trajectory"], of.trajectory().mean())
        check_interval(row, "trajectory", of.interval(of.trajectory() * 1.0, numpy.ones(len(of.numbers))))
    expected = [(label, start) for label in sorted(scores) for start in numpy.unique(scores[label].t // width) * width]
    assert [(row["label"], row["bin_start"]) for row in prefix] == expected
    for row in prefix:
        of = scores[row["label"]]
        assert row["bin_end"] == row["bin_start"] + width
        check_metrics(row, of, (of.t >= row["bin_start"]) & (of.t < row["bin_end"]))
    assert [(row["label"], row["index"]) for row in errors] == [(label, i) for label in sorted(scores) for i in range(75)]
    for row in errors:
        of = scores[row["label"]]
        wrong = ~of.right(row["index"])
        # Rows are sorted by game, then t: of each game the first that is not exact.
        games, firsts = numpy.unique(of.game[~of.exact], return_index=True)
        found = [row[column] for column in ("wrong", "first", "positions", "games")]
        assert found == [wrong.sum(), wrong[~of.exact][firsts].sum(), len(of.t), len(games)], row
    print(f"{len(overall)} labels, {len(prefix)} bins and {len(errors)} counts of errors are what numpy finds")


if __name__ == "__main__":
    check(sys.argv[1], int(sys.argv[2]), [argument.rsplit("=", 1) for argument in sys.argv[3:]])
