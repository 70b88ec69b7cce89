/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_MESSAGES_H
#define RCORE_TRIAGE_MESSAGES_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * What the process itself knew of its end, of the fiber or thread that
 * snapshot->cause names: whether a collection was running, the exception that
 * it was handling, and whether memory was short: by a NoMemoryError or
 * Errno::ENOMEM among the exceptions, rb_memerror() on the stack, or what was
 * said of it.
 */
void rcore_messages_find(struct rcore_snapshot *snapshot);

#endif
