/* SPDX-License-Identifier: MIT */
/*
 * Reads the DWARF of layouts in a process of its own, because libdw may crash
 * or hang on hostile files.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/helper.h"
#include "base/text.h"
#include "image/elf/elf_memory.h"
#include "layout/dwarf_file.h"
#include "layout/layout.h"

struct request {
	unsigned version[3];
	bool has_version, has_headers;
	char path[PATH_MAX], headers[PATH_MAX];
};

struct reply {
	bool is_done;
	enum rcore_error_code code;
	char message[PATH_MAX + 512];
	struct rcore_layout layout;
};

_Static_assert(sizeof(struct reply) <= RCORE_HELPER_ROOM, "a layout fits into a reply");

/* In the helper. */
static size_t serve(void *context, const void *bytes, size_t size, void *reply, size_t room)
{
	const struct request *request = bytes;
	struct reply *ret = reply;
	memset(ret, 0, sizeof(*ret));
	struct rcore_error *err = rcore_dwarf_layout(
		request->path, request->has_version ? request->version : NULL,
		request->has_headers ? request->headers : NULL, &ret->layout);
	ret->is_done = !err;
	if (err) {
		ret->code = err->code;
		rcore_format(ret->message, sizeof(ret->message), "%s", err->message);
	}
	rcore_error_free(err);
	return sizeof(*ret);
}

/*
 * A helper that a hostile file has taken over may say anything. A layout that
 * can be written and read again has fields within their structs, and the rest
 * follows from its version.
 */
static struct rcore_error *check(struct rcore_layout *layout)
{
	struct rcore_layout again = *layout;
	strcpy(again.name, "reply");
	char *text = rcore_layout_print(&again, NULL);
	struct rcore_error *err =
		text ? rcore_layout_parse(text, "reply", &again) : rcore_error_no_memory();
	free(text);
	rcore_layout_set_traits(layout);
	return rcore_error_wrap(err, "its debug information makes no sense");
}

static struct rcore_error *take(struct reply *reply, size_t size, struct rcore_layout *ret)
{
	if (size != sizeof(*reply))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "its debug information cannot be read");
	reply->message[sizeof(reply->message) - 1] = '\0';
	reply->layout.name[sizeof(reply->layout.name) - 1] = '\0';
	if (!reply->is_done && reply->code >= RCORE_ERROR_NO_MEMORY &&
	    reply->code <= RCORE_ERROR_TRACED)
		return rcore_error_create(reply->code, "%s", reply->message);
	if (!reply->is_done)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "%s", reply->message);
	struct rcore_error *err = check(&reply->layout);
	if (!err)
		*ret = reply->layout;
	return err;
}

static struct rcore_error *ask(const char *path, const unsigned version[3], const char *headers,
			       struct rcore_layout *ret)
{
	struct request *request = calloc(1, sizeof(*request));
	void *reply = malloc(RCORE_HELPER_ROOM);
	struct rcore_helper *helper = rcore_helper_new(NULL, rcore_elf_lacked_memory);
	struct rcore_error *err = NULL;
	size_t size = 0;
	if (!request || !reply || !helper) {
		err = rcore_error_no_memory();
	} else if (strlen(path) >= PATH_MAX || (headers && strlen(headers) >= PATH_MAX)) {
		err = rcore_error_os(ENAMETOOLONG, "%s", path);
	} else {
		if (version)
			memcpy(request->version, version, sizeof(request->version));
		request->has_version = version != NULL;
		request->has_headers = headers != NULL;
		strcpy(request->path, path);
		strcpy(request->headers, headers ? headers : "");
		if (rcore_helper_call(helper, serve, request, sizeof(*request), reply, &size)) {
			err = take(reply, size, ret);
		} else {
			const char *why = rcore_helper_problem(helper);
			err = rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"%s: the process that reads its debug information died: %s",
				path, why ? why : "it cannot be started");
		}
	}
	rcore_helper_free(helper);
	free(request);
	free(reply);
	return err;
}

struct rcore_error *rcore_layout_from_dwarf(const char *path, const unsigned version[3],
					    struct rcore_layout *ret)
{
	return ask(path, version, NULL, ret);
}

struct rcore_error *rcore_layout_from_headers(const char *path, const unsigned version[3],
					      const char *headers, const unsigned neighbour[3],
					      struct rcore_layout *ret)
{
	struct rcore_error *err = ask(path, version, headers, ret);
	if (!err)
		memcpy(ret->neighbour, neighbour, sizeof(ret->neighbour));
	return err;
}

/* In the helper. The request is the path, with its NUL. */
static size_t serve_provenance(void *context, const void *path, size_t size, void *reply,
			       size_t room)
{
	char *text = rcore_dwarf_provenance(path);
	size_t length = text ? strlen(text) + 1 : 0;
	if (length > room)
		length = 0;
	if (length)
		memcpy(reply, text, length);
	free(text);
	return length;
}

char *rcore_layout_provenance(const char *path)
{
	char *reply = malloc(RCORE_HELPER_ROOM), *text = NULL;
	struct rcore_helper *helper = rcore_helper_new(NULL, rcore_elf_lacked_memory);
	size_t size = 0, length = strlen(path) + 1;
	if (reply && helper && length < PATH_MAX &&
	    rcore_helper_call(helper, serve_provenance, path, length, reply, &size) &&
	    size > 1 && !reply[size - 1])
		text = strdup(reply);
	rcore_helper_free(helper);
	free(reply);
	return text;
}
