-- Crashes by version and build of Ruby.
SELECT
	ruby, build_id, count(*) AS crashes, count(DISTINCT loose) AS signatures,
	array_agg(DISTINCT service) AS services
FROM rcore_crashes
WHERE ruby IS NOT NULL
GROUP BY ruby, build_id
ORDER BY crashes DESC, ruby, build_id;
