/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_HELPER_H
#define RCORE_BASE_HELPER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A process that runs functions of ours on hostile bytes, through libraries
 * that can be made to crash, hang or take all memory: libdw and the demangler.
 * It is forked, without exec, so it has all that its parent had at the first
 * call; whatever it changes afterwards is its own. It is confined
 * (base/confine.h) and has limits of time and memory. If it dies, the parent
 * continues without it.
 */
struct rcore_helper;

/*
 * Runs in the helper. Reads a request, writes a reply of at most `room` bytes
 * and returns its size.
 */
typedef size_t rcore_helper_function(void *context, const void *request, size_t size,
				     void *reply, size_t room);

/* Bytes of a request and of a reply. */
enum { RCORE_HELPER_ROOM = 128 << 10 };

/*
 * Starts nothing yet. Returns NULL if memory is short. After each call, the
 * helper asks `lacked_memory` whether the libraries lacked memory since errno
 * was set to 0.
 */
struct rcore_helper *rcore_helper_new(void *context, bool (*lacked_memory)(void));
void rcore_helper_free(struct rcore_helper *helper); /* NULL-safe; ends it */

/*
 * Calls a function in the helper. *ret_size is the size of the reply, which the
 * caller must check like any hostile bytes. Returns false if the helper died
 * meanwhile; the next call starts another one, up to a limit. If a request
 * kills the helper, do not repeat it.
 */
bool rcore_helper_call(struct rcore_helper *helper, rcore_helper_function *function,
		       const void *request, size_t size, void *reply, size_t *ret_size);

/*
 * Returns why the helper died at first: "it took longer than 60 s". NULL if it
 * did not.
 */
const char *rcore_helper_problem(const struct rcore_helper *helper);

/*
 * Returns whether the helper could not be started, or may have found less,
 * because memory is short. For calls that succeed, rcore knows this only if the
 * user limits the memory.
 */
bool rcore_helper_lacks_memory(const struct rcore_helper *helper);

/*
 * Ends the helper if it runs, because its libraries do not search again for
 * what they have not found. The next call starts another one, also after many
 * have died, unless one took too long or they have used all of their time.
 */
void rcore_helper_retry(struct rcore_helper *helper);

#endif
