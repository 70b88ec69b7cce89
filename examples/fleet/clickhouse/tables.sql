-- The lines of rcore triage (docs/json.md), with a column for each field. A field
-- that a line lacks is empty, 0, or 1970-01-01. A line that arrives twice has
-- the same key, so FINAL shows it once.
CREATE TABLE rcore_crashes (
	schema String,
	core String,
	status UInt16,
	time DateTime('UTC'),
	time_source String,
	host String,
	host_source String,
	service String,
	release String,
	pid Int32,
	signal String,
	ruby String,
	build_id String,
	cause String,
	bug String,
	abort_message String,
	blame String,
	path String,
	line Int32,
	gem String,
	native String,
	ruby_frames Array(String),
	native_frames Array(String),
	loose String,
	strict String,
	loose_text String,
	heap_objects UInt64,
	heap_bytes UInt64,
	heap_classes Array(String),
	heap_class_objects Array(UInt64),
	heap_class_bytes Array(UInt64),
	heap_problem String,
	error String
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (service, loose, time, host, pid, core);

-- The newest release of each service: the one whose first crash is the latest.
CREATE VIEW rcore_newest_releases AS
SELECT service, argMax(release, first) AS release
FROM (SELECT service, release, min(time) AS first FROM rcore_crashes WHERE release != '' GROUP BY service, release)
GROUP BY service;
