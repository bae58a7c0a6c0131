-- How a model did over every position of one test set: one row.
--
-- Reads the table `scores`: one row per position (docs/formats.md). `correct` is out of the 75 state labels, `loss` is
-- already the mean over them; scores whose rows all have none (predictions of another program) have none here either.
-- `exact_sum` adds floats without rounding on the way, so that neither the order of the
-- rows nor the number of cores can change a digit; an inf or a NaN in it stays one.

WITH games AS (
    -- A trajectory is exact when every position of the game is.
    SELECT game, bool_and(exact) AS exact
    FROM scores
    GROUP BY game
),
trajectories AS (
    SELECT
        count(*)                     AS games,
        count(*) FILTER (WHERE exact) AS exact
    FROM games
),
positions AS (
    SELECT
        count(*)                      AS positions,
        exact_sum(loss)               AS loss,
        sum(correct)                  AS correct,
        count(*) FILTER (WHERE exact) AS exact,
        count(*) - count(loss)        AS without_loss,
        count(*) FILTER (
            WHERE game IS NULL OR t IS NULL OR correct IS NULL OR exact IS NULL
        )                             AS incomplete
    FROM scores
)
SELECT
    trajectories.games                                              AS games,
    positions.positions                                             AS positions,
    positions.incomplete                                            AS incomplete,
    positions.without_loss                                          AS without_loss,
    positions.loss / positions.positions                            AS loss,
    CAST(positions.correct AS DOUBLE) / (75 * positions.positions)  AS labelwise,
    CAST(positions.exact AS DOUBLE) / positions.positions           AS exact,
    CAST(trajectories.exact AS DOUBLE) / trajectories.games         AS trajectory
FROM positions CROSS JOIN trajectories
