-- Sums of every game in every bin of `$width` steps that it reaches: what the bootstrap over games draws from.
--
-- A sum is called as its metric is; `crates/scores/src/metrics.rs` has the number by which it is divided. The order is that of the
-- rows in `stages/bins/src/bootstrap.rs`, which adds them up in it.

WITH binned AS (
    SELECT game, CAST(t AS BIGINT) / $width AS bin, correct, exact, loss
    FROM scores
)
SELECT
    bin * $width                   AS bin_start,
    game,
    count(*)                       AS positions,
    exact_sum(loss)                AS loss,
    CAST(sum(correct) AS BIGINT)   AS labelwise,
    count(*) FILTER (WHERE exact)  AS exact
FROM binned
GROUP BY bin, game
ORDER BY bin, game
