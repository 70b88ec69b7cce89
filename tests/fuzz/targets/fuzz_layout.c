/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "target.h"

/*
 * The text of a layout table. A table that is accepted must be printed as it
 * was understood.
 */

static char *print(const char *text)
{
	struct rcore_layout *layout = calloc(1, sizeof(*layout));
	char *printed = NULL;
	if (!layout)
		abort();
	struct rcore_error *err = rcore_layout_parse(text, "fuzz", layout);
	if (!err && !(printed = rcore_layout_print(layout, NULL)))
		abort();
	rcore_error_free(err);
	free(layout);
	return printed;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = strndup((const char *)bytes, size);
	if (!text)
		abort();
	char *first = print(text);
	char *again = first ? print(first) : NULL;
	if (first && (!again || strcmp(first, again) != 0))
		abort();
	free(text);
	free(first);
	free(again);
	return 0;
}
