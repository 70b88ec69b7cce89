/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report/profile/page.h"

struct json_object *rcore_page_text(struct rcore_page_writer *writer, const char *text)
{
	char cut[RCORE_PAGE_TEXT_MAX + 4];
	size_t length = strnlen(text, RCORE_PAGE_TEXT_MAX + 1);
	if (length <= RCORE_PAGE_TEXT_MAX)
		return rcore_json_string(&writer->json, text);
	/* Not within a character. */
	length = RCORE_PAGE_TEXT_MAX;
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(cut, text, length);
	strcpy(cut + length, "...");
	return rcore_json_string(&writer->json, cut);
}

uint32_t rcore_page_function(struct rcore_page_writer *writer, uint32_t function)
{
	return rcore_numbering_add(&writer->functions, function);
}
