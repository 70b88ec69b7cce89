-- Crashes by host: one that has most of them may have broken memory.
SELECT service, host, count(*) AS crashes, count(DISTINCT loose) AS signatures, max(time) AS last
FROM rcore_crashes
GROUP BY service, host
ORDER BY crashes DESC, service, host;
