/* SPDX-License-Identifier: MIT */
#include "report/profile/page/page.h"

struct json_object *rcore_page_text(struct rcore_page_writer *writer, const char *text)
{
	return rcore_json_cut(&writer->json, text, RCORE_PAGE_TEXT_MAX);
}

uint32_t rcore_page_function(struct rcore_page_writer *writer, uint32_t function)
{
	return rcore_numbering_add(&writer->functions, function);
}
