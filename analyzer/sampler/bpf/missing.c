/* SPDX-License-Identifier: MIT */
#include "sampler/bpf/engine.h"

static struct rcore_error *open_none(const struct rcore_bpf_options *options,
				     struct rcore_bpf **ret)
{
	return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
				  "this rcore was built without BPF; install clang, bpftool "
				  "and libbpf, and build it again");
}

static void close_none(struct rcore_bpf *bpf)
{
}

/* The other functions are only called after open() has succeeded. */
const struct rcore_bpf_engine rcore_bpf_engine = {.open = open_none, .close = close_none};
