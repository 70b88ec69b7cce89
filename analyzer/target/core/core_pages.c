/* SPDX-License-Identifier: MIT */
#include "target/core/core_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/page_buffer.h"

enum {
	PAGE = 4096,
	PLACES = 1024,
	/* Pages that may be read twice before it counts: some 10 ms. */
	FREE = 4096,
};

struct rcore_core_pages {
	int fd;
	uint64_t count;    /* of pages in the file */
	uint8_t *was_read; /* a bit for each of them */
	size_t once, again;
	/* Each page has one place. Its number plus 1; 0: none is there. */
	uint64_t numbers[PLACES];
	uint8_t (*bytes)[PAGE];
};

struct rcore_core_pages *rcore_core_pages_new(int fd, uint64_t size)
{
	struct rcore_core_pages *pages = calloc(1, sizeof(*pages));
	if (!pages)
		return NULL;
	pages->count = size / PAGE + 1;
	pages->was_read = calloc(pages->count / 8 + 1, 1);
	pages->bytes = rcore_page_buffer(PLACES * sizeof(*pages->bytes));
	pages->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (pages->fd >= 0 && pages->was_read && pages->bytes)
		return pages;
	rcore_core_pages_free(pages);
	return NULL;
}

void rcore_core_pages_free(struct rcore_core_pages *pages)
{
	if (!pages)
		return;
	if (pages->fd >= 0)
		close(pages->fd);
	free(pages->was_read);
	free(pages->bytes);
	free(pages);
}

bool rcore_core_pages_suit(const struct rcore_core_pages *pages)
{
	return pages && pages->again < pages->once + FREE;
}

/* Returns how much could be read before the file's end, or an error. */
static size_t read_file(const struct rcore_core_pages *pages, uint64_t offset, void *buffer,
			size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t got = pread(pages->fd, (char *)buffer + done, size - done,
				    (off_t)(offset + done));
		if (got > 0)
			done += (size_t)got;
		else if (!got || errno != EINTR)
			break;
	}
	return done;
}

static void count(struct rcore_core_pages *pages, uint64_t number)
{
	uint8_t *byte = &pages->was_read[number / 8], bit = (uint8_t)(1U << number % 8);
	if (*byte & bit)
		pages->again++;
	else
		pages->once++;
	*byte |= bit;
}

/* Returns a page whose first `size` bytes are in the file, or NULL. */
static const uint8_t *find(struct rcore_core_pages *pages, uint64_t number, size_t size)
{
	size_t place = (size_t)(number ^ number / PLACES) % PLACES;
	if (pages->numbers[place] != number + 1) {
		size_t got = read_file(pages, number * PAGE, pages->bytes[place], PAGE);
		count(pages, number);
		/* The last page is rarely a whole one, and not kept then. */
		pages->numbers[place] = got == PAGE ? number + 1 : 0;
		if (got < size)
			return NULL;
	}
	return pages->bytes[place];
}

bool rcore_core_pages_read(struct rcore_core_pages *pages, uint64_t offset, void *buffer,
			   size_t size)
{
	if (size >= PAGE)
		return read_file(pages, offset, buffer, size) == size;
	char *out = buffer;
	while (size) {
		size_t at = offset % PAGE, part = PAGE - at < size ? PAGE - at : size;
		const uint8_t *page = offset / PAGE < pages->count
					      ? find(pages, offset / PAGE, at + part)
					      : NULL;
		if (!page)
			return false;
		memcpy(out, page + at, part);
		out += part;
		offset += part;
		size -= part;
	}
	return true;
}
