-- Signatures that only the newest release of a service has.
SELECT
	service, release, loose, count() AS crashes, uniqExact(host) AS hosts,
	min(time) AS first, any(cause) AS cause, any(blame) AS blame
FROM rcore_crashes FINAL
WHERE loose != ''
	AND (service, release) IN (SELECT service, release FROM rcore_newest_releases)
	AND (service, loose) NOT IN (
		SELECT service, loose FROM rcore_crashes
		WHERE (service, release) NOT IN (SELECT service, release FROM rcore_newest_releases))
GROUP BY service, release, loose
ORDER BY crashes DESC, service, loose;
