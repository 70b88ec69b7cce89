/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_MESSAGES_H
#define RCORE_TRIAGE_MESSAGES_H

#include "base/error.h"
#include "model/snapshot.h"

/*
 * Sets what the process itself knew about its end, for the fiber or thread that
 * snapshot->cause names: whether a collection was running, the exception that
 * it was handling, and whether memory was short. Evidence for the latter is a
 * NoMemoryError or Errno::ENOMEM among the exceptions, rb_memerror() on the
 * stack, or a message.
 */
void rcore_messages_find(struct rcore_snapshot *snapshot);

#endif
