/* SPDX-License-Identifier: MIT */
#include "cli/profile/profile_screen.h"

#include "cli/screen.h"

struct rcore_error *rcore_profile_show(const struct rcore_profile_request *request,
				       const struct rcore_inputs *inputs, bool *ret_partial)
{
	const struct rcore_screen_style style = {
		.is_text = true, .keep_paths = request->arguments->all, .is_table = true};
	struct rcore_screen screen;
	rcore_screen_begin(&screen);
	struct rcore_error *err = rcore_profile_write(request, inputs, screen.out, ret_partial);
	struct rcore_error *other = rcore_screen_end(&screen, &style);
	if (!err)
		return other;
	rcore_error_free(other);
	return err;
}
