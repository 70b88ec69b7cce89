/* SPDX-License-Identifier: MIT */
#include "command/list.h"
#include "report/bpf_params.h"
#include "session/bpf_params.h"

struct arguments {
	bool json, binary;
	struct rcore_strings keys;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"key", 'k', RCORE_OPTION_LIST, MEMBER(keys), "KEY",
	 "Also find the ID of this key of contexts, such as request_id. Can be repeated, up "
	 "to 8 times",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"binary", 0, RCORE_OPTION_FLAG, MEMBER(binary),
	 .help = "Write the struct rcore_ruby_params of rcore/ruby.bpf.h, for a map",
	 .is_document = (const bool[]){false, true}},
	{0},
};

static void prepare(const void *arguments, struct rcore_options *open)
{
	open->no_native = true;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const char *const *names = arguments->keys.items;
	const struct rcore_snapshot *snapshot;
	struct rcore_ruby_params params;
	if (arguments->json && arguments->binary)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"options '--json' and '--binary' cannot be used together");
	struct rcore_error *err = rcore_view_need(view, &snapshot);
	if (!err)
		err = rcore_bpf_params(view->session, snapshot, names, arguments->keys.count,
				       &params);
	if (err)
		return err;
	if (arguments->binary)
		return rcore_report_bpf_params_binary(&params, out);
	return arguments->json ? rcore_report_bpf_params_json(snapshot, &params, names, out)
			       : rcore_report_bpf_params(&params, names, out);
}

const struct rcore_command rcore_command_bpf_params = {
	.name = "bpf-params",
	.topic = RCORE_TOPIC_SELF,
	.summary = "what a BPF program needs to know to read a Ruby process",
	.doc = "Print the constants that your own BPF program needs to read the context and "
	       "the Ruby stack of a process at the moment of an event: where each thread "
	       "stores its execution context and the pointer ruby_profiler_state, and the "
	       "offsets of the members that such a program reads. They are valid until the "
	       "process ends or calls exec. The functions in the header rcore/ruby.bpf.h use "
	       "them. docs/bpf.md explains both. -1 means that this Ruby has no such member.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.shell_examples =
		(const char *const[]){
			"rcore bpf-params -p 1234",
			"rcore bpf-params -p 1234 --key request_id --binary > params",
			"rcore bpf-params -p 1234 --json | jq .ec", NULL},
	.exit_status = "Exit status: 0 printed; 1 printed, but a thread or fiber could not be "
		       "decoded; "
		       "2 nothing was printed; 3 not a Ruby process; 64 wrong usage.",
	.prepare = prepare,
	.run = run,
};
