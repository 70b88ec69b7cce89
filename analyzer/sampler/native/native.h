/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_NATIVE_H
#define RCORE_SAMPLER_NATIVE_H

/*
 * sampler/native/ adds native frames and functions of the kernel to samples.
 * It includes the rest of sampler/. Start here.
 */

#include "sampler/sampler_private.h"

/*
 * Adds native frames to samples. Without BPF, the registers of a thread can
 * only be read while it is stopped, so a tick stops the process:
 *
 *	hold     stops all threads
 *	         ... the tick reads its stacks, each once ...
 *	keep     copies the used parts of the machine stacks
 *	let_go   resumes the process
 *	         ... the Ruby frames are looked up ...
 *	weave    unwinds the copies, and weaves them with the Ruby frames
 *	node     returns the woven stack of a thread
 *
 * A stack begins with its outermost Ruby frame. Of the interpreter's own
 * functions, it only has those that the innermost Ruby frame called. A thread
 * that could not be stopped, or has no kernel thread, only has its Ruby frames.
 *
 * All of these do nothing if the sampler has no `native`.
 */

struct rcore_error *rcore_native_new(struct rcore_sampler *sampler);
void rcore_native_free(struct rcore_native *native); /* NULL-safe */

/* If the process cannot be stopped, counts that. Error: NO_MEMORY. */
struct rcore_error *rcore_native_hold(struct rcore_sampler *sampler, uint64_t now);
struct rcore_error *rcore_native_keep(struct rcore_sampler *sampler);
void rcore_native_let_go(struct rcore_sampler *sampler); /* if it is held */
struct rcore_error *rcore_native_weave(struct rcore_sampler *sampler);

/*
 * Returns the node of a thread's stack; `index` is that of the thread. With
 * `in_gc`, the frame of the garbage collector is outside of the native frames
 * that it called.
 */
uint32_t rcore_native_node(struct rcore_sampler *sampler, size_t index, bool in_gc);

/*
 * For records of the BPF program, which have registers and machine stacks:
 * begin_records() begins a tick. add() replaces *node, which is that of the
 * record's Ruby frames, by that of its woven stack. `track` has the Ruby
 * frames; NULL: there are none. Error: NO_MEMORY.
 */
struct rcore_error *rcore_native_begin_records(struct rcore_sampler *sampler, uint64_t now);
struct rcore_error *rcore_native_add(struct rcore_sampler *sampler,
				     const struct rcore_bpf_record *record,
				     const struct rcore_track *track, bool in_gc,
				     uint32_t *node);

#endif
