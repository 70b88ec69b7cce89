/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/collect/collect.h"
#include "target/core/core_store.h"

static uint64_t more_room(void *context)
{
	return rcore_room_more(context);
}

static const char *what_is_cut(const struct rcore_stored_core *stored)
{
	return !stored->kept ? "the core is not stored: no room is left; allow more with "
			       "--max-use and --keep-free"
	       : stored->is_late
		       ? "the core did not end in time, so it is cut off; allow more with "
			 "--time-limit"
	       : stored->is_kept_cut
		       ? "the stored core is cut off: no room is left; allow more with "
			 "--max-use and --keep-free"
	       : stored->is_plain_cut
		       ? "only a part of the core could be read: $TMPDIR or /var/tmp is full"
		       : NULL;
}

struct rcore_error *rcore_collect_late(const struct rcore_collect *collect)
{
	return rcore_error_create(
		RCORE_ERROR_LIMIT,
		"not finished after %zu second%s; allow more with --time-limit",
		collect->asked->seconds, rcore_plural(collect->asked->seconds));
}

struct rcore_error *rcore_collect_store(struct rcore_collect *collect)
{
	char ending[32], path[64];
	struct rcore_stored_core stored = {0};
	struct rcore_room room = {.folder = collect->folder,
				  .limits = &collect->asked->limits,
				  .own = collect->name};
	struct rcore_core_store in = {
		.in = STDIN_FILENO,
		.kept = -1,
		.plain = rcore_temporary_open(),
		.seconds = (unsigned)collect->asked->seconds,
		.more = more_room,
		.context = &room,
	};
	struct rcore_error *err = in.plain < 0
					  ? rcore_error_os(errno,
							   "cannot write to %s; set TMPDIR to "
							   "another folder",
							   rcore_temporary_folder())
					  : NULL;
	snprintf(ending, sizeof(ending), ".full-core%s", rcore_core_store_ending());
	if (!err)
		err = rcore_collect_create(collect, ending, &in.kept);
	if (!err)
		rcore_room_lock(in.kept);
	if (!err)
		err = rcore_room_make(&room, &in.room);
	if (!err)
		err = rcore_core_store(&in, &stored);
	if (!err && !stored.size)
		err = rcore_collect_late(collect);
	collect->is_cut = stored.is_late || stored.is_plain_cut;
	collect->has_no_core = in.kept >= 0 && (!stored.size || !stored.kept);
	if (!err && what_is_cut(&stored))
		rcore_collect_note(collect, what_is_cut(&stored));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in.plain);
	if (!err && (collect->core = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		err = rcore_error_os(errno, "cannot open the core again");
	collect->kept = in.kept;
	if (in.plain >= 0)
		close(in.plain);
	return err;
}
