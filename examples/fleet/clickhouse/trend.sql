-- Crashes by day and signature, in the 30 days before the newest crash. A host
-- whose clock is ahead does not hide the crashes of others.
SELECT toDate(time) AS day, service, loose, count() AS crashes
FROM rcore_crashes FINAL
WHERE loose != '' AND time > (SELECT least(max(time), now()) FROM rcore_crashes) - 30 * 86400
GROUP BY day, service, loose
ORDER BY day, crashes DESC, service, loose;
