/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "base/text.h"
#include "command/limits.h"
#include "command/list.h"
#include "report/heap.h"
#include "report/heap_list.h"
#include "session/heap/heap.h"
#include "session/heap/heap_graph.h"
#include "session/inputs.h"
#include "session/heap/malloc.h"
#include "session/session.h"
#include "target/output/output.h"

enum { SHOWN_ROWS = 25, SHOWN_RETAINED = 5, INSPECT_BYTES = 1000 };

/*
 * The HTML page lists more of the objects that retain most, and has a map of
 * them.
 */
enum { PAGE_RETAINED = 100, PAGE_NODES = 3000 };

enum format { TEXT, JSON, PAGE };

/* The suffix of the output's name selects the format. */
static const struct {
	const char *end;
	enum format format;
} endings[] = {{".html", PAGE}, {".json", JSON}, {".txt", TEXT}};

/*
 * Without --full, heaps with more slots than this are printed without retained
 * sizes and C memory. These take about ten times as long as the rest: about a
 * second for this many slots.
 */
enum { FULL_SLOTS = 2000000 };

struct arguments {
	bool json, list, full;
	const char *klass, *output;
	struct rcore_strings where;
	struct rcore_index limit;
	struct rcore_limits limits;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{
		.name = "output",
		.letter = 'o',
		.kind = RCORE_OPTION_TEXT,
		.offset = MEMBER(output),
		.writes = true,
		.value = "FILE",
		.help = "Write to FILE instead of standard output. Its suffix selects the "
			"format: .html (a page with a map of what is retained), .json or .txt",
		.completion = RCORE_COMPLETE_FILE,
	},
	{"limit", 0, RCORE_OPTION_INDEX, MEMBER(limit), "N",
	 "Print the N largest classes, or N objects; 0 prints all. 25 by default",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"class", 0, RCORE_OPTION_TEXT, MEMBER(klass), "NAME",
	 "Count only the objects of this class, without those of its subclasses; as "
	 "`rcore heap` prints it",
	 .completion = RCORE_COMPLETE_CONSTANT},
	{"list", 0, RCORE_OPTION_FLAG, MEMBER(list),
	 .help = "With --class: print each object with its address, age, bytes and inspect"},
	{"where", 'w', RCORE_OPTION_LIST, MEMBER(where), "KEY=VALUE",
	 "With --class: only objects with this instance variable (@state=:open), member of a "
	 "Struct (state=:open), key of a Hash, or element of an Array ([0]=1), as printed; KEY "
	 "alone matches any value. Can be repeated; all must match",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"full", 0, RCORE_OPTION_FLAG, MEMBER(full),
	 .help = "Also print the objects that retain the most, and the C memory in use, if the "
		 "heap has more than 2 million slots"},
	RCORE_OPTIONS_OF_LIMITS(MEMBER(limits), "1000"),
	{0},
};

static bool is_small(const struct rcore_heap_census *census)
{
	uint64_t slots = 0;
	for (size_t i = 0; i < census->pool_count; i++)
		slots += census->pools[i].slots;
	return slots <= FULL_SLOTS;
}

/* Finds the format of the output file and that of standard output. */
static struct rcore_error *find_format(const struct arguments *arguments, enum format *ret)
{
	const char *output = arguments->output;
	char escaped[128];
	*ret = arguments->json ? JSON : TEXT;
	if (!output)
		return NULL;
	for (size_t i = 0; i < RCORE_COUNT(endings); i++) {
		if (!rcore_ends_with(output, endings[i].end))
			continue;
		if (arguments->json && endings[i].format != JSON)
			break;
		*ret = endings[i].format;
		return NULL;
	}
	return rcore_error_create(RCORE_ERROR_USAGE, "the suffix of '%s' names no format; %s",
				  rcore_escape(escaped, sizeof(escaped), output),
				  arguments->json ? "with '--json', it must be .json"
						  : "the suffixes are .html, .json and .txt");
}

struct writing {
	struct rcore_view *view;
	const struct rcore_census_report *report;
	enum format format;
	bool color;
};

static struct rcore_error *write_census(FILE *out, const void *context)
{
	const struct writing *writing = context;
	const struct rcore_report_options style = {.color = writing->color};
	if (writing->format == PAGE)
		return rcore_report_census_html(
			writing->report, writing->view->session->target.process->source, out);
	return writing->format == JSON ? rcore_report_census_json(writing->report, out)
				       : rcore_report_census_text(writing->report, &style, out);
}

static struct rcore_error *write_file(const char *path, const struct writing *writing)
{
	const struct rcore_inputs *inputs;
	struct rcore_error *err = rcore_session_inputs(writing->view->session, &inputs);
	return err ? err
		   : rcore_output_write(path, RCORE_OUTPUT_PRIVATE, inputs, write_census,
					writing);
}

static struct rcore_error *print_full(struct rcore_view *view,
				      const struct arguments *arguments, enum format format,
				      struct rcore_census_report *report, FILE *out)
{
	const struct writing writing = {view, report, format,
					!arguments->output && view->color};
	struct rcore_heap_retained *retained = NULL;
	struct rcore_malloc heap = {0};
	struct rcore_error *unknown = NULL, *err = NULL;
	if (format == PAGE || arguments->full || is_small(report->census)) {
		unknown = rcore_heap_retained_tree(
			view->session, format == PAGE ? PAGE_RETAINED : SHOWN_RETAINED,
			format == PAGE ? PAGE_NODES : 0, &retained);
		err = rcore_session_malloc(&view->session->target, &heap);
		report->retained = unknown ? NULL : retained;
		report->problem = unknown ? unknown->message : NULL;
		report->c_memory = err ? NULL : &heap;
	}
	rcore_view_print(view);
	view->is_partial = report->census->absent_pages > 0 || unknown;
	if (!err)
		err = arguments->output ? write_file(arguments->output, &writing)
					: write_census(out, &writing);
	rcore_heap_retained_free(unknown ? NULL : retained);
	rcore_malloc_deinit(&heap);
	rcore_error_free(unknown);
	return err;
}

static struct rcore_error *print_census(struct rcore_view *view,
					const struct arguments *arguments, size_t limit,
					FILE *out)
{
	struct rcore_heap_census *census;
	enum format format;
	struct rcore_error *err = find_format(arguments, &format);
	if (!err && arguments->output)
		err = rcore_session_check_output(view->session, arguments->output);
	if (!err)
		err = rcore_heap_census(view->session, &census);
	if (err)
		return err;
	struct rcore_census_report report = {.census = census, .limit = limit};
	err = print_full(view, arguments, format, &report, out);
	rcore_heap_census_free(census);
	return err;
}

static struct rcore_error *
print_class(struct rcore_view *view, const struct arguments *arguments, size_t limit, FILE *out)
{
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_list_options asked = {
		.klass = arguments->klass,
		.where = arguments->where.items,
		.where_count = arguments->where.count,
		.inspect = rcore_limits_inspect(&arguments->limits),
	};
	struct rcore_heap_list *list;
	if (arguments->list)
		asked.limit = limit ? limit : SIZE_MAX;
	if (!asked.inspect.max_text)
		asked.inspect.max_text = INSPECT_BYTES;
	struct rcore_error *err = rcore_heap_list(view->session, &asked, &list);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = list->absent_pages > 0;
	for (size_t i = 0; i < list->print.count; i++)
		view->is_partial |= list->print.items[i].value.problem != NULL;
	err = arguments->json ? rcore_report_heap_list_json(list, out)
			      : rcore_report_heap_list_text(list, &report, out);
	rcore_heap_list_free(list);
	return err;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const size_t limit = arguments->limit.is_given ? arguments->limit.number : SHOWN_ROWS;
	if (arguments->klass && arguments->output)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "options '--class' and '--output' exclude each "
					  "other; redirect standard output instead");
	if (arguments->klass)
		return print_class(view, arguments, limit, out);
	if (arguments->list || arguments->where.count)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "option '--%s' requires '--class NAME'",
					  arguments->list ? "list" : "where");
	return print_census(view, arguments, limit, out);
}

const struct rcore_command rcore_command_heap = {
	.name = "heap",
	.topic = RCORE_TOPIC_LOOK,
	.verb = "heap",
	.summary = "what is in memory, what holds it, what grew",
	.doc = "Count the objects in the heap of a core, or of a running process, by class. "
	       "Bytes are those of the slots and of the C memory that ObjectSpace.memsize_of() "
	       "counts, except that of objects of extensions and a few others (Ractor, Set "
	       "from 4.0 on), because only their own C functions know it. A page "
	       "is sparse if at most a quarter of its slots are "
	       "in use. The age of an object is how many collections it has survived; at 3 it "
	       "is old, and only a major collection frees it. If the heap has up to 2 million "
	       "slots, or with --full, also print the objects that retain the most, and how "
	       "much C memory is in use.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.subcommands =
		(const struct rcore_command *const[]){
			&rcore_command_heap_dump, &rcore_command_heap_refs,
			&rcore_command_heap_retained, &rcore_command_heap_diff,
			&rcore_command_heap_strings, &rcore_command_heap_verify,
			&rcore_command_heap_doctor, &rcore_command_heap_malloc, NULL},
	.examples = (const char *const[]){"", "--limit 0", "--class Order --list",
					  "--class Order --list --where @state=:open", NULL},
	.shell_examples =
		(const char *const[]){"rcore heap core.1234 -o heap.html",
				      "rcore heap --json core.1234 | jq '.classes[0]'",
				      "rcore heap dump core.1234 -o heap.json", NULL},
	.exit_status =
		"Exit status: 0 everything was read; 1 something could not be read; 2 nothing "
		"could be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
