-- Crashes by host. If most of them are on one host, its memory may be faulty.
SELECT service, host, count(*) AS crashes, count(DISTINCT loose) AS signatures, max(time) AS last
FROM rcore_crashes
GROUP BY service, host
ORDER BY crashes DESC, service, host;
