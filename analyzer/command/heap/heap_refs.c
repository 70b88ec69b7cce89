/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "command/constant.h"
#include "command/list.h"
#include "report/heap_object.h"
#include "session/heap/heap_graph.h"

enum { SHOWN_REFERRERS = 25 };

struct arguments {
	bool json;
	struct rcore_index limit;
	struct rcore_strings addresses;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"limit", 0, RCORE_OPTION_INDEX, MEMBER(limit), "N",
	 "Print N references to it (25); 0 prints all", .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *parse(const struct arguments *arguments,
				 struct rcore_refs_options *ret)
{
	if (arguments->addresses.count != 1)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "missing ADDRESS; name the address of one object");
	const char *word = arguments->addresses.items[0];
	*ret = (struct rcore_refs_options){.is_id = *word == '@'};
	if (rcore_is_constant(word)) {
		ret->constant = word;
	} else if (*word == '$') {
		ret->global = word;
	} else if (!rcore_parse_address(word + ret->is_id, &ret->address)) {
		char escaped[128];
		rcore_escape(escaped, sizeof(escaped), word);
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'%s' is not an address; use one such as "
					  "0x7f12a5c3e8b0, @ID of a heapsnapshot, or the "
					  "name of a constant or of a global variable ($foo)",
					  escaped);
	}
	ret->limit = SHOWN_REFERRERS;
	if (arguments->limit.is_given)
		ret->limit = arguments->limit.number ? arguments->limit.number : SIZE_MAX;
	return NULL;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_refs_options refs_options;
	struct rcore_heap_refs *refs;
	struct rcore_error *err = parse(arguments, &refs_options);
	if (!err)
		err = rcore_heap_refs(view->session, &refs_options, &refs);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = rcore_heap_is_partial(&refs->gaps);
	err = arguments->json ? rcore_report_refs_json(refs, out)
			      : rcore_report_refs_text(refs, &report, out);
	rcore_heap_refs_free(refs);
	return err;
}

const struct rcore_command rcore_command_heap_refs = {
	.name = "refs",
	.summary = "what refers to an object, and a path from a root to it",
	.doc = "Name an object by its address, by its id in a heapsnapshot, by a constant "
	       "(Foo::BAR), or by a global variable ('$foo'). Print a shortest path from a "
	       "root to it, with the names of "
	       "constants, "
	       "instance variables and the like, and all references to it. Only an extension "
	       "knows what its own objects refer to, so rcore treats words of their C memory "
	       "that look like references as references, and marks them in the output. An "
	       "object without a path may still be in use.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.words = "ADDRESS|@ID|CONSTANT|$GLOBAL",
	.completion = RCORE_COMPLETE_CONSTANT,
	.operands_offset = MEMBER(addresses),
	.examples = (const char *const[]){"0x7f12a5c3e8b0", "--limit 0 0x7f12a5c3e8b0", "@1234",
					  "Foo::BAR", NULL},
	.shell_examples = (const char *const[]){"rcore heap refs --json core.1234 "
						"0x7f12a5c3e8b0 | jq '.path.links'",
						"rcore heap refs core.1234 '$cache'", NULL},
	.exit_status =
		"Exit status: 0 everything was read; 1 some objects could not be read; 2 "
		"nothing could be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
