-- Classes by growth in the newest release: the mean of their bytes, over the
-- heaps in which they are among the N largest (rcore triage --heap N).
SELECT service, class, now, before, now - before AS growth
FROM (
	SELECT
		crash.service, class,
		coalesce(avg(bytes) FILTER (WHERE newest.release IS NOT NULL), 0) AS now,
		coalesce(avg(bytes) FILTER (WHERE newest.release IS NULL), 0) AS before
	FROM rcore_crashes AS crash
	CROSS JOIN unnest(heap_classes, heap_class_bytes) AS largest (class, bytes)
	LEFT JOIN rcore_newest_releases AS newest
		ON newest.service = coalesce(crash.service, '') AND newest.release = crash.release
	GROUP BY crash.service, class) AS classes
ORDER BY growth DESC, service, class
LIMIT 25;
