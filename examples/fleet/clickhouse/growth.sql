-- Classes by growth in the newest release: the mean of their bytes, over the
-- heaps in which they are among the N largest (rcore triage --heap N).
SELECT
	service, class,
	if(countIf(newest) = 0, 0, sumIf(bytes, newest) / countIf(newest)) AS now,
	if(countIf(NOT newest) = 0, 0, sumIf(bytes, NOT newest) / countIf(NOT newest)) AS before,
	now - before AS growth
FROM (
	SELECT
		service, class, bytes,
		(service, release) IN (SELECT service, release FROM rcore_newest_releases) AS newest
	FROM rcore_crashes FINAL
	ARRAY JOIN heap_classes AS class, heap_class_bytes AS bytes)
GROUP BY service, class
ORDER BY growth DESC, service, class
LIMIT 25;
