-- Which classes grew in the newest release: their mean bytes in a heap, where
-- they are among the largest classes of it (rcore triage --heap N).
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
