-- How often each of the 75 labels is wrong, and how often it is among the first to be: one row, with lists of 75 counts.
--
-- `wrong_labels` counts for each label the rows in which its bit is not set: bit i of `right_squares` is label i, bit i
-- of `right_state` label 64 + i (docs/formats.md).

WITH first_wrong AS (
    -- What each game that goes wrong has right at the first position that is not exact.
    SELECT
        game,
        first_value(right_squares ORDER BY t) AS right_squares,
        first_value(right_state ORDER BY t)   AS right_state
    FROM scores
    WHERE NOT exact
    GROUP BY game
),
first_errors AS (
    SELECT count(*) AS games, wrong_labels(right_squares, right_state) AS first
    FROM first_wrong
),
all_errors AS (
    SELECT count(*) AS positions, wrong_labels(right_squares, right_state) AS wrong
    FROM scores
)
SELECT positions, games, wrong, first
FROM all_errors CROSS JOIN first_errors
