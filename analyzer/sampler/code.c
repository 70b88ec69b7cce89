/* SPDX-License-Identifier: MIT */
#include "sampler/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/hot.h"
#include "ruby/get.h"
#include "ruby/iseq/label.h"
#include "ruby/iseq/method.h"
#include "vm/find/frame_proof.h"
#include "ruby/iseq/frame_flags.h"

#define HASH_NONFATAL_OOM          1
#define uthash_nonfatal_oom(entry) ((entry)->is_lost = true)
#include "sampler/code_private.h"

enum {
	CODE_LIMIT = 200000,      /* entries; then all are dropped */
	PLACE_LIMIT = 20000,      /* places; then all are forgotten */
	ENVIRONMENT_LIMIT = 1000, /* nested blocks */
	KEPT_FLAGS = RCORE_FRAME_MAGIC_MASK | RCORE_ENV_LOCAL | RCORE_FRAME_CFRAME |
		     RCORE_FRAME_FINISH,
};

static void begin(struct rcore_codes *codes)
{
	rcore_ruby_init(&codes->ruby, codes->memory, codes->layout, &codes->arena);
	codes->prepare(&codes->ruby, codes->context);
}

void rcore_codes_init(struct rcore_codes *codes, struct rcore_profile *profile,
		      struct rcore_memory *memory, const struct rcore_layout *layout,
		      void (*prepare)(struct rcore_ruby *ruby, void *context),
		      void (*finish)(const struct rcore_ruby *ruby, void *context),
		      void *context)
{
	*codes = (struct rcore_codes){.profile = profile,
				      .generation = profile->generation,
				      .memory = memory,
				      .layout = layout,
				      .prepare = prepare,
				      .finish = finish,
				      .context = context};
	begin(codes);
}

void rcore_codes_forget_places(struct rcore_codes *codes)
{
	struct rcore_code_place *place, *next;
	HASH_ITER (hh, codes->places, place, next) {
		HASH_DEL(codes->places, place);
		free(place);
	}
	codes->place_count = 0;
}

void rcore_codes_drop(struct rcore_codes *codes, struct rcore_code *code)
{
	rcore_codes_forget_places(codes);
	HASH_DEL(codes->entries, code);
	code->next_dropped = codes->dropped;
	codes->dropped = code;
	codes->drops++;
	codes->count--;
}

static void free_code(struct rcore_code *code)
{
	free(code->leaves);
	free(code->label);
	free(code->path);
	free(code);
}

RCORE_HOT void rcore_codes_begin_tick(struct rcore_codes *codes)
{
	while (codes->dropped) {
		struct rcore_code *code = codes->dropped;
		codes->dropped = code->next_dropped;
		free_code(code);
	}
}

static void drop_all(struct rcore_codes *codes)
{
	while (codes->entries)
		rcore_codes_drop(codes, codes->entries);
	codes->lost = 0;
}

void rcore_codes_forget_objects(struct rcore_codes *codes)
{
	codes->finish(&codes->ruby, codes->context);
	rcore_ruby_deinit(&codes->ruby);
	rcore_arena_deinit(&codes->arena);
	codes->arena = (struct rcore_arena){0};
	codes->forgets++;
	begin(codes);
}

void rcore_codes_deinit(struct rcore_codes *codes)
{
	drop_all(codes);
	rcore_codes_begin_tick(codes);
	codes->finish(&codes->ruby, codes->context);
	rcore_ruby_deinit(&codes->ruby);
	rcore_arena_deinit(&codes->arena);
}

void rcore_codes_forget(struct rcore_codes *codes)
{
	drop_all(codes);
	rcore_codes_forget_objects(codes);
	codes->generation = codes->profile->generation;
}

static RCORE_HOT uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

RCORE_HOT uint64_t rcore_code_environment(const struct rcore_layout *layout,
					  const struct rcore_stack *stack, const uint8_t *frame)
{
	enum { FLAGS = 0, PARENT = 8, METHOD = 16, MAGIC = 0x7fff0000 };
	uint64_t ep = rcore_code_frame_field(frame, layout, &layout->cfp.ep), hash = 0, flags,
		 word;
	for (int i = 0; i < ENVIRONMENT_LIMIT; i++) {
		if (!rcore_stack_value(stack, ep - FLAGS, &flags))
			return mix(hash, ep) | RCORE_CODE_IN_HEAP;
		if (rcore_stack_value(stack, ep - METHOD, &word))
			hash = mix(hash, word);
		if (!i)
			hash = mix(hash, flags & MAGIC);
		if (flags & RCORE_ENV_LOCAL || !rcore_stack_value(stack, ep - PARENT, &word))
			break;
		ep = word & ~(uint64_t)RCORE_ENV_OUTER_TAG;
	}
	return hash & ~(uint64_t)RCORE_CODE_IN_HEAP;
}

static void set_function(struct rcore_codes *codes, struct rcore_code *code, const char *label,
			 const char *path, int first_line)
{
	struct rcore_profile *profile = codes->profile;
	const struct rcore_profile_function function = {
		.kind = code->is_c ? RCORE_FUNCTION_C : RCORE_FUNCTION_RUBY,
		.label = rcore_profile_string(profile, label),
		.path = rcore_profile_string(profile, path),
		.first_line = first_line > 0 ? (uint32_t)first_line : 0,
	};
	code->label = label ? strdup(label) : NULL;
	code->path = path ? strdup(path) : NULL;
	code->function = rcore_profile_function(profile, &function);
}

static struct rcore_error *look_up_iseq(struct rcore_codes *codes, struct rcore_code *code,
					const struct rcore_method_entry *method)
{
	const struct rcore_iseq_info *iseq;
	const char *label = NULL, *problem = NULL;
	struct rcore_error *err = rcore_iseq(&codes->ruby, code->key.iseq, &iseq);
	if (!err)
		err = rcore_label(&codes->ruby, iseq, method, &label, &problem);
	if (err)
		return err;
	code->body = iseq->body;
	code->encoded = iseq->encoded;
	code->bytes = (uint64_t)iseq->size * sizeof(uint64_t);
	code->has_line = true;
	if (rcore_read_field(codes->memory, code->body,
			     &codes->layout->iseq_body.local_table_size, &code->locals))
		code->locals = 0;
	set_function(codes, code, label, iseq->path, iseq->first_line);
	return NULL;
}

/* Finds what decides which code a frame runs. */
static struct rcore_error *find_key(struct rcore_codes *codes, uint64_t ep,
				    struct rcore_code_key *key)
{
	uint64_t flags;
	struct rcore_error *err = rcore_frame_flags(&codes->ruby, &ep, &flags);
	if (err)
		return err;
	if (!rcore_is_frame_flags(flags))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "no flags at 0x%" PRIx64 ", but 0x%" PRIx64, ep,
					  flags);
	uint64_t magic = flags & RCORE_FRAME_MAGIC_MASK;
	key->flags = flags & KEPT_FLAGS;
	return magic == RCORE_FRAME_MAGIC_DUMMY || magic == RCORE_FRAME_MAGIC_IFUNC
		       ? NULL
		       : rcore_frame_method_entry(&codes->ruby, ep, &key->method);
}

static struct rcore_error *look_up(struct rcore_codes *codes, struct rcore_code *code)
{
	const struct rcore_method_entry *method = NULL;
	const char *label = NULL, *problem = NULL;
	struct rcore_error *err = NULL;
	uint64_t magic = code->key.flags & RCORE_FRAME_MAGIC_MASK;
	bool is_block_in_c = magic == RCORE_FRAME_MAGIC_IFUNC;
	if (magic == RCORE_FRAME_MAGIC_DUMMY && !code->key.iseq)
		return NULL;
	if (code->key.method)
		err = rcore_method_entry(&codes->ruby, code->key.method, &method);
	code->is_c = is_block_in_c || magic == RCORE_FRAME_MAGIC_CFUNC;
	if (!err)
		err = rcore_frame_prove_code(
			&codes->ruby,
			&(struct rcore_frame){.iseq = code->key.iseq,
					      .flags = (uint32_t)code->key.flags},
			method);
	if (err)
		return err;
	if (magic == RCORE_FRAME_MAGIC_CFUNC && code->key.iseq)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "a C frame with an iseq");
	if (is_block_in_c) {
		set_function(codes, code, "block in C", NULL, 0);
		return NULL;
	}
	if (!code->is_c)
		return look_up_iseq(codes, code, method);
	if (!method || method->type != RCORE_METHOD_CFUNC)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "a C frame without a C method");
	code->cfunc = method->cfunc;
	err = rcore_label(&codes->ruby, NULL, method, &label, &problem);
	if (!err)
		set_function(codes, code, label, NULL, 0);
	return err;
}

static uint32_t lost(struct rcore_codes *codes)
{
	struct rcore_profile *profile = codes->profile;
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NOTE,
		.label = rcore_profile_string(profile, "(a frame that could not be read)")};
	if (!codes->lost)
		codes->lost = rcore_profile_frame(
			profile, rcore_profile_function(profile, &function), 0);
	return codes->lost;
}

static struct rcore_code *add(struct rcore_codes *codes, const struct rcore_code_key *key)
{
	if (codes->count >= CODE_LIMIT)
		rcore_codes_forget(codes);
	struct rcore_code *code = calloc(1, sizeof(*code));
	if (!code)
		return NULL;
	code->key = *key;
	codes->looked_up++;
	struct rcore_error *err = look_up(codes, code);
	if (!err) {
		rcore_code_identify(codes->layout, codes->memory, code, &code->identity);
		HASH_ADD(hh, codes->entries, key, sizeof(code->key), code);
	}
	if (err || code->is_lost) {
		rcore_error_free(err);
		free_code(code);
		return NULL;
	}
	codes->count++;
	return code;
}

/* Remembers which code a frame runs. It does not matter if memory is short. */
static void add_place(struct rcore_codes *codes, uint64_t iseq, uint64_t environment,
		      struct rcore_code *code)
{
	struct rcore_code_place *place = calloc(1, sizeof(*place));
	if (codes->place_count >= PLACE_LIMIT)
		rcore_codes_forget_places(codes);
	if (!place)
		return;
	place->key.iseq = iseq;
	place->key.environment = environment;
	place->code = code;
	HASH_ADD(hh, codes->places, key, sizeof(place->key), place);
	if (place->is_lost)
		free(place);
	else
		codes->place_count++;
}

/* Finds the code of a frame that is at no known place. */
static struct rcore_code *find_code(struct rcore_codes *codes, uint64_t iseq,
				    uint64_t environment, uint64_t ep)
{
	struct rcore_code_key key = {.iseq = iseq};
	struct rcore_code *code = NULL;
	struct rcore_error *err = find_key(codes, ep, &key);
	if (!err)
		HASH_FIND(hh, codes->entries, &key, sizeof(key), code);
	if (!err && !code)
		code = add(codes, &key);
	if (code && !(environment & RCORE_CODE_IN_HEAP))
		add_place(codes, iseq, environment, code);
	rcore_error_free(err);
	return code;
}

static RCORE_HOT struct rcore_code *code_at(const struct rcore_codes *codes, uint64_t iseq,
					    uint64_t environment)
{
	struct rcore_code_place *place;
	const struct {
		uint64_t iseq, environment;
	} key = {iseq, environment};
	HASH_FIND(hh, codes->places, &key, sizeof(key), place);
	return place ? place->code : NULL;
}

RCORE_HOT void rcore_codes_find(struct rcore_codes *codes, const struct rcore_stack *stack,
				uint64_t cfp, uint64_t environment,
				struct rcore_code_frame *ret)
{
	const struct rcore_layout *layout = codes->layout;
	const uint8_t *frame = rcore_stack_frame(stack, cfp);
	uint64_t iseq = rcore_code_frame_field(frame, layout, &layout->cfp.iseq);
	uint64_t ep = rcore_code_frame_field(frame, layout, &layout->cfp.ep);
	uint64_t pc = rcore_code_frame_field(frame, layout, &layout->cfp.pc);
	if (codes->generation != codes->profile->generation)
		rcore_codes_forget(codes);
	struct rcore_code *code = code_at(codes, iseq, environment);
	if (!code)
		code = find_code(codes, iseq, environment, ep);
	/*
	 * Compiled code saves the pc only when it must, so that of the
	 * innermost frame may be old. It may also be new, and the iseq old:
	 * rcore_codes_is_filled().
	 */
	bool may_be_stale = cfp == stack->cfp && (rcore_has(&layout->cfp.jit_return) ||
						  layout->traits.frames_pushed_first);
	if (code && !rcore_code_is_within(code, pc) && !may_be_stale) {
		codes->changed++;
		drop_all(codes);
		rcore_codes_forget_objects(codes);
		code = find_code(codes, iseq, environment, ep);
	}
	if (!code) {
		*ret = (struct rcore_code_frame){.frame = lost(codes)};
		return;
	}
	int line = 0;
	code->is_used = true;
	*ret = (struct rcore_code_frame){.code = code,
					 .label = code->label,
					 .path = code->path,
					 .is_c = code->is_c,
					 .cfunc = code->cfunc,
					 .flags = (uint32_t)code->key.flags};
	bool is_stale = may_be_stale &&
			(rcore_code_frame_field(frame, layout, &layout->cfp.jit_return) ||
			 !rcore_code_is_within(code, pc));
	if (code->has_line && pc && !is_stale) {
		const struct rcore_iseq_info *info;
		struct rcore_error *err = rcore_iseq(&codes->ruby, iseq, &info);
		if (!err)
			err = rcore_iseq_line(&codes->ruby, info, pc, &line);
		rcore_error_free(err);
	}
	if (code->function)
		ret->frame = rcore_profile_frame(codes->profile, code->function,
						 line > 0 ? (uint32_t)line : 0);
}
