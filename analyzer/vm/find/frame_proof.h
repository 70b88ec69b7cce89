/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FRAME_PROOF_H
#define RCORE_VM_FRAME_PROOF_H

#include "model/snapshot.h"
#include "ruby/iseq/method.h"

/*
 * Checks that the parts of a frame fit each other as vm_push_frame() leaves
 * them. A corrupt cfp, ep or flags word often leads to the frame of another
 * call, which looks right on its own. Mirrors vm_check_frame_detail() of
 * vm_insnhelper.c, which a Ruby built with VM_CHECK_MODE runs, and the
 * assertions about escaped environments in vm.c:
 *
 *   - the magic says whether the environment is local, whether the frame is
 *     C's, and which type of iseq it runs;
 *   - a method's frame runs the iseq of its method entry, as do the blocks in
 *     the method;
 *   - the environment is on this fiber's VM stack, below those of the frames
 *     that are further in, or it has escaped to a rb_env_t that points back.
 *
 * `stored_ep` is the frame's cfp->ep. *limit is passed from frame to frame,
 * innermost first: environments on the VM stack lie below it. It starts as the
 * innermost cfp. Returns NULL if the parts fit; otherwise CORRUPT or FAULT with
 * a message that names the part.
 */
struct rcore_error *rcore_frame_prove(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
				      const struct rcore_frame *frame, uint64_t stored_ep,
				      const struct rcore_method_entry *method, uint64_t *limit);

/*
 * Of these checks, does those of the magic, the iseq and the method entry. They
 * need only `frame->flags`, `frame->iseq`, and `frame->cfp` for the message.
 */
struct rcore_error *rcore_frame_prove_code(struct rcore_ruby *ruby,
					   const struct rcore_frame *frame,
					   const struct rcore_method_entry *method);

/*
 * Whether the frame at `cfp`, the outermost of a VM stack, is the dummy frame
 * that CRuby pushes first.
 */
bool rcore_frame_is_bottom(struct rcore_ruby *ruby, uint64_t cfp);

#endif
