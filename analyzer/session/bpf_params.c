/* SPDX-License-Identifier: MIT */
#include "session/bpf_params.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/count.h"
#include "ruby/object/string.h"
#include "ruby/symbol/id.h"
#include "session/bpf_place.h"
#include "session/session.h"

/* Finds the ID of each name, and where the names of IDs are. */
static struct rcore_error *find_keys(struct rcore_session *session, const char *const *keys,
				     size_t key_count, struct rcore_ruby_params *params)
{
	struct rcore_arena arena = {0};
	struct rcore_ruby ruby;
	struct rcore_error *err = NULL;
	rcore_reader_init(&ruby, &session->target, &session->located, &arena);
	if (ruby.global_symbols && rcore_has_place(&ruby.layout->symbols.ids))
		params->symbol_names =
			ruby.global_symbols + (uint64_t)ruby.layout->symbols.ids.offset;
	for (size_t i = 0; i < key_count && !err; i++) {
		uint64_t id = 0;
		err = rcore_id_find(&ruby, keys[i], &id);
		if (!err && !id)
			err = rcore_error_create(RCORE_ERROR_CORRUPT,
						 "the process has no Symbol :%s (yet); check "
						 "its spelling, or wait until the program has "
						 "used it",
						 keys[i]);
		params->keys[i] = id;
	}
	params->key_count = (uint32_t)key_count;
	rcore_reader_deinit(&ruby, &session->located);
	rcore_arena_deinit(&arena);
	return err;
}

/* A field, and the member that gets its offset. */
struct member {
	const struct rcore_field *field;
	int32_t *ret;
};

/*
 * Sets the pid by which the program recognizes the process. It is the pid in
 * rcore's own pid namespace, because that is where the user or rcore found it.
 */
static struct rcore_error *set_process(const struct rcore_snapshot *snapshot,
				       struct rcore_ruby_params *params)
{
	struct stat namespace;
	if (stat("/proc/self/ns/pid", &namespace))
		return rcore_error_os(errno, "cannot read /proc/self/ns/pid");
	params->pid = (uint32_t)snapshot->pid;
	params->pid_namespace = (uint32_t) namespace.st_ino;
	return NULL;
}

static struct rcore_error *set_offsets(const struct rcore_layout *layout,
				       struct rcore_ruby_params *params)
{
	const struct member members[] = {
		{&layout->ec.vm_stack, &params->ec_vm_stack},
		{&layout->ec.vm_stack_size, &params->ec_vm_stack_size},
		{&layout->ec.cfp, &params->ec_cfp},
		{&layout->ec.thread_ptr, &params->ec_thread},
		{&layout->thread.nt, &params->thread_native},
		{&layout->thread.thread_id, &params->thread_pthread},
		{&layout->native_thread.thread_id, &params->native_pthread},
		{&layout->cfp.pc, &params->frame_pc},
		{&layout->cfp.iseq, &params->frame_iseq},
		{&layout->cfp.ep, &params->frame_ep},
		{&layout->iseq.body, &params->iseq_body},
		{&layout->iseq_body.label, &params->body_label},
		{&layout->cme.def, &params->method_definition},
		{&layout->method_def.original_id, &params->definition_original_id},
		{&layout->string.len, &params->string_length},
		{&layout->string.ptr, &params->string_pointer},
		{&layout->string.embed_ary, &params->string_embedded},
		{&layout->string.embed_len, &params->string_embedded_length},
		{&layout->array.heap_len, &params->array_length},
		{&layout->array.heap_ptr, &params->array_pointer},
		{&layout->array.embed_ary, &params->array_embedded},
	};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < RCORE_COUNT(members) && !err; i++) {
		err = rcore_not_measured(layout, members[i].field);
		*members[i].ret = rcore_has(members[i].field) ? members[i].field->offset : -1;
	}
	params->frame_size = (int32_t)layout->cfp.size;
	params->string_noembed = (uint32_t)layout->constant.string_noembed;
	params->id_last_operator = (uint32_t)layout->constant.last_op_id;
	params->id_scope_shift = (uint32_t)layout->constant.id_scope_shift;
	return err;
}

struct rcore_error *rcore_bpf_params(struct rcore_session *session,
				     const struct rcore_snapshot *snapshot,
				     const char *const *keys, size_t key_count,
				     struct rcore_ruby_params *ret)
{
	struct rcore_ruby_params params = {.version = RCORE_RUBY_PARAMS_VERSION};
	if (key_count > RCORE_RUBY_KEYS)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "%zu keys; at most %d are possible", key_count,
					  RCORE_RUBY_KEYS);
	if (session->target.pack)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"a pack does not have the thread-local memory in which Ruby keeps its "
			"execution context; use the core or the process that it was made from");
	struct rcore_error *err = set_offsets(&session->located.location.layout, &params);
	if (!err)
		err = set_process(snapshot, &params);
	if (!err)
		err = rcore_bpf_places(session, snapshot, &params);
	/* The copy of the last stop has only what the report needed. */
	if (!err && session->target.live)
		rcore_live_forget(session->target.live);
	if (!err)
		err = find_keys(session, keys, key_count, &params);
	if (!err)
		*ret = params;
	return err;
}

bool rcore_bpf_params_like(struct rcore_session *session, const uint64_t *threads, size_t count,
			   const struct rcore_ruby_params *known, struct rcore_ruby_params *ret)
{
	struct rcore_ruby_params params = {.version = RCORE_RUBY_PARAMS_VERSION};
	rcore_auto_error err = set_offsets(&session->located.location.layout, &params);
	if (err || !rcore_bpf_places_hold(session, threads, count, known, &params))
		return false;
	err = find_keys(session, NULL, 0, &params);
	if (!err)
		*ret = params;
	return !err;
}
