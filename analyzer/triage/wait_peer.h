/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_WAIT_PEER_H
#define RCORE_TRIAGE_WAIT_PEER_H

#include "model/snapshot.h"

/*
 * Whether all of these fibers wait to read from, or to write to, the same peer
 * or file, each by a descriptor of its own.
 */
bool rcore_waits_same_peer(const struct rcore_snapshot *snapshot, const int *fibers,
			   size_t count);

/* Writes "waits to read from 10.0.0.5:80", for a wait that has a peer. */
void rcore_wait_peer_write(const struct rcore_wait *wait, bool plural, FILE *out);

#endif
