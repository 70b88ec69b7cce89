/* SPDX-License-Identifier: MIT */
#include "filling.h"

#include <string.h>

static void settle(struct filling *filling, struct findings *findings)
{
	if (filling->excused_at && filling->excused_at >= filling->changed_at) {
		findings->at = filling->excused_at;
		findings->snapshot = NULL;
		finding(findings, "stack never recorded",
			"the innermost frame was complete, and is shown otherwise");
	}
	filling->excused_at = 0;
}

void filling_note(struct filling *filling, struct analysis *analysis, struct findings *findings,
		  uint64_t thread, uint64_t at)
{
	struct cursor old = filling->cursor, now = analysis_cursor(analysis, thread);
	bool moved = now.ec != old.ec || now.cfp != old.cfp;
	if (moved || at >= filling->pushed_at + FILLING)
		settle(filling, findings);
	filling->cursor = now;
	if (now.ec == old.ec && now.cfp < old.cfp) {
		filling->pushed_at = filling->changed_at = at;
		filling->words = analysis_frame(analysis, now.cfp);
	} else if (!moved && at < filling->pushed_at + FILLING) {
		struct frame_words words = analysis_frame(analysis, now.cfp);
		if (memcmp(&words, &filling->words, sizeof(words)) != 0)
			filling->changed_at = at;
		filling->words = words;
	}
}

bool filling_may_last(const struct filling *filling, const struct analysis *analysis,
		      uint64_t at)
{
	return at < filling->pushed_at + FILLING && analysis_pushes_first(analysis);
}
