/* SPDX-License-Identifier: MIT */
#include "base/sized.h"
#include "session/live/running.h"

struct rcore_error *rcore_open_core(const char *path, const struct rcore_options *given,
				    struct rcore_session **ret)
{
	struct rcore_options options = {0};
	struct rcore_core *core;
	struct rcore_error *err = rcore_sized_copy(&options, given);
	if (!err)
		err = rcore_core_open(path, &core);
	if (err)
		return err;
	err = rcore_session_open(rcore_core_process(core), rcore_core_memory(core), &options,
				 ret);
	if (err) {
		rcore_core_close(core);
		return err;
	}
	(*ret)->target.core = core;
	rcore_running_unpack(*ret);
	return NULL;
}
