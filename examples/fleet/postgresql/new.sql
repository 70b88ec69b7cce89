-- Signatures that only the newest release of a service has.
SELECT
	crash.service, min(crash.release) AS release, loose, count(*) AS crashes,
	count(DISTINCT host) AS hosts, min(time) AS first, min(cause) AS cause, min(blame) AS blame
FROM rcore_crashes AS crash
LEFT JOIN rcore_newest_releases AS newest
	ON newest.service = coalesce(crash.service, '') AND newest.release = crash.release
WHERE loose IS NOT NULL
GROUP BY crash.service, loose
HAVING bool_and(newest.release IS NOT NULL)
ORDER BY crashes DESC, service, loose;
