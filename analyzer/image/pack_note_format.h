/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_PACK_NOTE_FORMAT_H
#define RCORE_IMAGE_PACK_NOTE_FORMAT_H

/*
 * {"pack": 1, "layout": "...", "layout_source": "exact", "rubyopt": "...",
 *  "heap": 1, "fibers": [...], "segments": [start, size, saved, flags, ...],
 *  "code": [{"pc": ..., "function": ...}, ...],
 *  "stacks": [{"fiber": ..., "frames": [code, sp, trust, ...]}, ...],
 *  "deployment": {"time": ..., "time_source": "clock", "host": "...",
 *                 "host_source": "machine", "service": "...",
 *                 "release": "..."}}
 *
 * 2,000 fibers are parked at the same few dozen addresses, so the name of an
 * address is written only once. The pack of a running process also has
 *
 *  "live": {"stopped": 1, "pause_ns": ..., "threads": ..., "inner_pid": ...,
 *           "overdue": 1, "arguments": "...", "unstopped": [tid, ...],
 *           "fds": [fd, "link", ...]}
 */
enum {
	RCORE_PACKED_VERSION = 1,
	RCORE_PACKED_WORDS = 3,         /* of a frame */
	RCORE_PACKED_SEGMENT_WORDS = 4, /* of a segment */
	RCORE_PACKED_FD_WORDS = 2,      /* of a descriptor */
};
enum { RCORE_PACKED_READABLE = 4, RCORE_PACKED_WRITABLE = 2, RCORE_PACKED_EXECUTABLE = 1 };

#endif
