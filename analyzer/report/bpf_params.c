/* SPDX-License-Identifier: MIT */
#include "report/bpf_params.h"

#include <inttypes.h>

#include "base/count.h"
#include "base/text.h"
#include "report/json/json.h"
#include "report/text/style.h"

/* The members that are one number, by their names, in their order. */
struct number {
	const char *name;
	size_t offset, size;
};
#define NUMBER(name)                                                  \
	{                                                             \
#name, offsetof(struct rcore_ruby_params, name),      \
			sizeof(((struct rcore_ruby_params *)0)->name) \
	}
static const struct number numbers[] = {
	NUMBER(version),
	NUMBER(thread_pointer),
	NUMBER(dtv),
	NUMBER(ec_vm_stack),
	NUMBER(ec_vm_stack_size),
	NUMBER(ec_cfp),
	NUMBER(ec_thread),
	NUMBER(thread_native),
	NUMBER(thread_pthread),
	NUMBER(native_pthread),
	NUMBER(frame_size),
	NUMBER(frame_pc),
	NUMBER(frame_iseq),
	NUMBER(frame_ep),
	NUMBER(iseq_body),
	NUMBER(body_label),
	NUMBER(method_definition),
	NUMBER(definition_original_id),
	NUMBER(string_length),
	NUMBER(string_pointer),
	NUMBER(string_embedded),
	NUMBER(string_embedded_length),
	NUMBER(array_length),
	NUMBER(array_pointer),
	NUMBER(array_embedded),
	NUMBER(string_noembed),
	NUMBER(id_last_operator),
	NUMBER(id_scope_shift),
	NUMBER(symbol_names),
};

static const struct {
	const char *name;
	size_t offset;
} variables[] = {
	{"ec", offsetof(struct rcore_ruby_params, ec)},
	{"state", offsetof(struct rcore_ruby_params, state)},
};

static const char *const places[] = {
	[RCORE_RUBY_NOWHERE] = "nowhere",
	[RCORE_RUBY_ADDRESS] = "address",
	[RCORE_RUBY_THREAD] = "thread",
	[RCORE_RUBY_MODULE] = "module",
};

static int64_t number_of(const struct rcore_ruby_params *params, const struct number *number)
{
	const char *member = (const char *)params + number->offset;
	return number->size == sizeof(int64_t) ? *(const int64_t *)member
					       : *(const int32_t *)member;
}

static const struct rcore_ruby_variable *variable_of(const struct rcore_ruby_params *params,
						     size_t index)
{
	return (const struct rcore_ruby_variable *)((const char *)params +
						    variables[index].offset);
}

struct rcore_error *rcore_report_bpf_params(const struct rcore_ruby_params *params,
					    const char *const *names, FILE *out)
{
	for (size_t i = 0; i < params->key_count; i++) {
		fprintf(out, "keys[%zu]                 0x%" PRIx64 "  ", i,
			(uint64_t)params->keys[i]);
		rcore_escape_write(out, names[i]);
		putc('\n', out);
	}
	fprintf(out, "%-22s  %u\n%-22s  %u\n", "pid", params->pid, "pid_namespace",
		params->pid_namespace);
	for (size_t i = 0; i < RCORE_COUNT(variables); i++) {
		const struct rcore_ruby_variable *variable = variable_of(params, i);
		fprintf(out, "%-22s  %s", variables[i].name, places[variable->place]);
		if (variable->place == RCORE_RUBY_MODULE)
			fprintf(out, " %u", variable->module);
		if (variable->place == RCORE_RUBY_ADDRESS)
			fprintf(out, " 0x%" PRIx64, (uint64_t)variable->offset);
		else if (variable->place != RCORE_RUBY_NOWHERE)
			fprintf(out, " %+" PRId64, (int64_t)variable->offset);
		putc('\n', out);
	}
	for (size_t i = 0; i < RCORE_COUNT(numbers); i++) {
		int64_t number = number_of(params, &numbers[i]);
		fprintf(out,
			number >= 1 << 24 ? "%-22s  0x%" PRIx64 "\n" : "%-22s  %" PRId64 "\n",
			numbers[i].name, number);
	}
	return rcore_pen_error(out);
}

static void put_keys(struct rcore_json *json, const struct rcore_ruby_params *params,
		     const char *const *names)
{
	rcore_json_open(json, "keys", '[');
	for (size_t i = 0; i < params->key_count; i++) {
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "name", names[i]);
		rcore_json_add_hex(json, object, "id", params->keys[i]);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void put_variable(struct rcore_json *json, const char *name,
			 const struct rcore_ruby_variable *variable)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "place", places[variable->place]);
	rcore_json_add_count(json, object, "module", variable->module);
	rcore_json_add_int(json, object, "offset", variable->offset);
	rcore_json_put(json, name, object);
}

struct rcore_error *rcore_report_bpf_params_json(const struct rcore_snapshot *snapshot,
						 const struct rcore_ruby_params *params,
						 const char *const *names, FILE *out)
{
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-bpf-params/1");
	rcore_json_origin(&json, snapshot);
	put_keys(&json, params, names);
	for (size_t i = 0; i < RCORE_COUNT(variables); i++)
		put_variable(&json, variables[i].name, variable_of(params, i));
	struct json_object *object = rcore_json_object(&json);
	rcore_json_add_count(&json, object, "pid_namespace", params->pid_namespace);
	for (size_t i = 0; i < RCORE_COUNT(numbers); i++)
		rcore_json_add_int(&json, object, numbers[i].name,
				   number_of(params, &numbers[i]));
	rcore_json_put_members(&json, object);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}

struct rcore_error *rcore_report_bpf_params_binary(const struct rcore_ruby_params *params,
						   FILE *out)
{
	fwrite(params, sizeof(*params), 1, out);
	return rcore_pen_error(out);
}
