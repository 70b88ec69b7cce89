/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FRAME_PROOF_H
#define RCORE_VM_FRAME_PROOF_H

#include "model/snapshot.h"
#include "ruby/iseq/method.h"

/*
 * Do the parts of a frame fit each other as vm_push_frame left them? What a corrupt cfp, ep or
 * flags word leads to is often a frame of its own, of another call: read alone it looks right.
 * Mirrors vm_check_frame_detail of vm_insnhelper.c (a Ruby built with VM_CHECK_MODE runs it) and
 * the asserts on escaped environments in vm.c:
 *
 *   - the magic says whether the environment is local, whether the frame is C's, and of what
 *     type its iseq is;
 *   - a method's frame runs the iseq of its method entry, and so do the blocks in it;
 *   - the environment lies on this fiber's VM stack, below those of the frames within or, escaped,
 *     in a rb_env_t that leads back.
 *
 * `stored_ep` is cfp->ep as it stands in the frame. `limit` is handed from frame to frame,
 * innermost first: environments on the VM stack lie below it; it starts as the innermost cfp.
 * NULL: they fit; else CORRUPT or FAULT, naming what does not.
 */
struct rcore_error *rcore_frame_prove(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
				      const struct rcore_frame *frame, uint64_t stored_ep,
				      const struct rcore_method_entry *method, uint64_t *limit);

/* Is the frame at `cfp`, the outermost of a VM stack, the dummy that is pushed there first? */
bool rcore_frame_is_bottom(struct rcore_ruby *ruby, uint64_t cfp);

#endif
