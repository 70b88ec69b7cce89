-- Crashes by signature and release.
SELECT
	service, loose, release, count(*) AS crashes, count(DISTINCT host) AS hosts,
	min(time) AS first, max(time) AS last, min(cause) AS cause, min(blame) AS blame
FROM rcore_crashes
WHERE loose IS NOT NULL
GROUP BY service, loose, release
ORDER BY crashes DESC, service, loose, release;
