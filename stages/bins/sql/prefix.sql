-- The same metrics by prefix length: one row per bin of `$width` steps that holds any position, in order.
--
-- Step t = 0 is the START position, so with a width of 20 the first bin is START and the first 19 plies.

WITH binned AS (
    SELECT CAST(t AS BIGINT) / $width AS bin, correct, exact, loss
    FROM scores
)
SELECT
    bin * $width                                              AS bin_start,
    (bin + 1) * $width                                        AS bin_end,
    count(*)                                                  AS positions,
    exact_sum(loss) / count(*)                                AS loss,
    CAST(sum(correct) AS DOUBLE) / (75 * count(*))            AS labelwise,
    CAST(count(*) FILTER (WHERE exact) AS DOUBLE) / count(*)  AS exact
FROM binned
GROUP BY bin
ORDER BY bin
