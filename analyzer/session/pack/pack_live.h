/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_PACK_LIVE_H
#define RCORE_SESSION_PACK_LIVE_H

#include "session/session.h"
#include "target/core/process_notes.h"

/* What a pack needs in addition to what the analysis reads. */

/*
 * Records the data that a machine without the files has to search, and the
 * dynamic linker's list of libraries, which gdb needs. `ruby` may be NULL.
 */
void rcore_session_record(const struct rcore_target *target, const struct rcore_module *ruby);

/*
 * Requests a copy of everything that was recorded. A pack of a running process
 * can only contain what was copied while the process was stopped.
 */
void rcore_session_keep_recorded(const struct rcore_target *target);

/*
 * What is packed of a running process, and of the pack of one. `notes` and
 * `segments`, which a core has itself, are only set for a process.
 */
struct rcore_pack_live {
	struct rcore_packed_live packed;
	struct rcore_note_bytes notes;
	struct {
		struct rcore_segment *items;
		size_t count, capacity;
	} segments;
	/* Parts of `packed`. */
	struct {
		int *items;
		size_t count, capacity;
	} unstopped;
	struct {
		struct rcore_packed_fd *items;
		size_t count, capacity;
	} fds;
};

/*
 * `snapshot` comes from the session's last load. The result points into both.
 * Returns false if memory is short; call rcore_pack_live_deinit() in either
 * case.
 */
bool rcore_pack_live_init(const struct rcore_session *session,
			  const struct rcore_snapshot *snapshot, struct rcore_pack_live *ret);
void rcore_pack_live_deinit(struct rcore_pack_live *live);

#endif
