/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_WORK_H
#define RCORE_VM_WORK_H

/*
 * vm/work/ finds what each fiber works on: recognizers.json lists the
 * frameworks, recognizer.h reads it, value_path.h follows a path to a value.
 * pools.h finds the connection pools for which fibers wait.
 */

#include "vm/work/recognizer.h"

/*
 * Sets `works` of each fiber of the snapshot; its frames must be decoded. A
 * value that cannot be read has a problem. A field whose path cannot be
 * followed is left out. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_work(struct rcore_ruby *ruby,
				  const struct rcore_recognizers *recognizers,
				  const struct rcore_inspect_options *inspect,
				  struct rcore_snapshot *snapshot);

#endif
