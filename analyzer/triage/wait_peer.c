/* SPDX-License-Identifier: MIT */
#include "triage/wait_peer.h"

#include <string.h>

#include "base/text.h"

/* "socket:[7] TCP 127.0.0.1:4 with 127.0.0.1:5": the last word; or a path. */
static const char *peer_of(const struct rcore_wait *wait)
{
	if (wait->kind != RCORE_WAIT_IO || wait->fd_count != 1 || !wait->fds[0].link)
		return NULL;
	const char *link = wait->fds[0].link, *with = strstr(link, " with ");
	if (with)
		return with + strlen(" with ");
	return link[0] == '/' ? link : NULL;
}

static bool same_peer(const struct rcore_wait *a, const struct rcore_wait *b)
{
	const char *one = a ? peer_of(a) : NULL, *other = b ? peer_of(b) : NULL;
	return one && other && !strcmp(one, other) &&
	       rcore_same_text(a->fds[0].mode, b->fds[0].mode);
}

bool rcore_waits_same_peer(const struct rcore_snapshot *snapshot, const int *fibers,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!same_peer(snapshot->fibers[fibers[0]].wait,
			       snapshot->fibers[fibers[i]].wait))
			return false;
	return count > 0;
}

void rcore_wait_peer_write(const struct rcore_wait *wait, bool plural, FILE *out)
{
	const char *mode = wait->fds[0].mode;
	fputs(plural ? "wait" : "waits", out);
	if (!mode)
		fputs(" for ", out);
	else
		fprintf(out, " to %s %s", mode,
			!strcmp(mode, "read")    ? "from "
			: !strcmp(mode, "write") ? "to "
						 : "");
	rcore_escape_write(out, peer_of(wait));
}
