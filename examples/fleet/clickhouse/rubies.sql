-- Crashes by version and build of Ruby.
SELECT
	ruby, build_id, count() AS crashes, uniqExact(loose) AS signatures,
	groupUniqArray(service) AS services
FROM rcore_crashes FINAL
WHERE ruby != ''
GROUP BY ruby, build_id
ORDER BY crashes DESC, ruby, build_id;
