-- The lines of rcore triage (docs/json.md), with a column for each field. A field
-- that a line lacks is NULL.
CREATE TABLE rcore_crashes (
	schema text,
	core text,
	status integer,
	time timestamptz,
	time_source text,
	host text,
	host_source text,
	service text,
	release text,
	pid integer,
	signal text,
	ruby text,
	build_id text,
	cause text,
	bug text,
	abort_message text,
	blame text,
	path text,
	line integer,
	gem text,
	native text,
	ruby_frames text[],
	native_frames text[],
	loose text,
	strict text,
	loose_text text,
	heap_objects bigint,
	heap_bytes bigint,
	heap_classes text[],
	heap_class_objects bigint[],
	heap_class_bytes bigint[],
	heap_problem text,
	error text
);

-- A line that arrives twice is stored once. md5(), because a path may be longer
-- than an index allows.
CREATE UNIQUE INDEX rcore_crashes_once ON rcore_crashes (
	coalesce(time, 'epoch'), coalesce(host, ''), coalesce(pid, 0), md5(core));
CREATE INDEX rcore_crashes_signature ON rcore_crashes (service, loose, release);

-- The newest release of each service: the one whose first crash is the latest.
CREATE VIEW rcore_newest_releases AS
SELECT DISTINCT ON (service) service, release
FROM (SELECT coalesce(service, '') AS service, release, min(time) AS first FROM rcore_crashes
	WHERE release IS NOT NULL GROUP BY 1, 2) AS releases
ORDER BY service, first DESC NULLS LAST;
