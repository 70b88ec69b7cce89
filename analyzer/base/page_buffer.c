/* SPDX-License-Identifier: MIT */
#include "base/page_buffer.h"

#include <stdlib.h>

void *rcore_page_buffer(size_t size)
{
	void *buffer;
	return posix_memalign(&buffer, RCORE_BUFFER_PAGE, size) ? NULL : buffer;
}
