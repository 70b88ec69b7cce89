-- Crashes by signature and release.
SELECT
	service, loose, release, count() AS crashes, uniqExact(host) AS hosts,
	min(time) AS first, max(time) AS last, any(cause) AS cause, any(blame) AS blame
FROM rcore_crashes FINAL
WHERE loose != ''
GROUP BY service, loose, release
ORDER BY crashes DESC, service, loose, release;
