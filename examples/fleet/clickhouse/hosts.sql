-- Crashes by host. A host with most of them may have faulty memory.
SELECT service, host, count() AS crashes, uniqExact(loose) AS signatures, max(time) AS last
FROM rcore_crashes FINAL
GROUP BY service, host
ORDER BY crashes DESC, service, host;
