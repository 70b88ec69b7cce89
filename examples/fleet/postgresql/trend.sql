-- Crashes by day and signature, in the 30 days before the newest crash. A host
-- whose clock is ahead does not hide the crashes of others.
SELECT (time AT TIME ZONE 'UTC')::date AS day, service, loose, count(*) AS crashes
FROM rcore_crashes
WHERE loose IS NOT NULL AND time > (SELECT least(max(time), now()) FROM rcore_crashes) - interval '30 days'
GROUP BY 1, 2, 3
ORDER BY day, crashes DESC, service, loose;
