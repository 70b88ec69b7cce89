/* SPDX-License-Identifier: MIT */
#include "report/heap_doctor.h"
#include "command/list.h"
#include "session/heap/heap_doctor.h"

struct arguments {
	bool json, rules;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"rules", 0, RCORE_OPTION_FLAG, MEMBER(rules),
	 .help = "For each type of object, also print how much would be reached without its "
		 "references"},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_heap_doctor *doctor;
	struct rcore_error *err = rcore_heap_doctor(view->session, arguments->rules, &doctor);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = rcore_heap_is_partial(&doctor->gaps);
	err = arguments->json ? rcore_report_heap_doctor_json(doctor, out)
			      : rcore_report_heap_doctor_text(doctor, &report, out);
	rcore_heap_doctor_free(doctor);
	return err;
}

const struct rcore_command rcore_command_heap_doctor = {
	.name = "doctor",
	.summary = "whether rcore finds all objects that Ruby's collector found",
	.doc = "Compare the objects that rcore reaches from the roots with those that Ruby's "
	       "last garbage collection marked. Print how many of these are reached, and the "
	       "others by class. An object that is not reached has died since then, or rcore "
	       "does not know a reference to it: do not trust what other subcommands print "
	       "about its class.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.examples = (const char *const[]){"", "--rules", NULL},
	.exit_status = "Exit status: 0 everything was read; 1 some objects could not be read; "
		       "2 nothing could be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
