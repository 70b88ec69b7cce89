-- Imports lines of rcore triage from standard input:
--
--	psql -v ON_ERROR_STOP=1 -f examples/fleet/postgresql/import.sql < lines.jsonl
--
-- JSON escapes control characters, so no line contains the delimiter or the
-- quote.
CREATE TEMPORARY TABLE rcore_lines (entry text);
\copy rcore_lines FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
INSERT INTO rcore_crashes
SELECT crash.* FROM rcore_lines, json_populate_record(NULL::rcore_crashes, entry::json) AS crash
WHERE entry IS NOT NULL
ON CONFLICT DO NOTHING;
