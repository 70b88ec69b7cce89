/* SPDX-License-Identifier: MIT */
#include "sampler/code.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "ruby/get.h"
#include "ruby/iseq/label.h"
#include "ruby/iseq/method.h"
#include "vm/stack/frame_flags.h"

#define HASH_NONFATAL_OOM          1
#define uthash_nonfatal_oom(entry) ((entry)->is_lost = true)
#include <uthash.h>

enum {
	CODE_LIMIT = 200000,      /* entries; then all are dropped */
	ENVIRONMENT_LIMIT = 1000, /* nested blocks */
	IDENTITY_WORDS = 10,
	/* Verifications after which the decoders are created anew. */
	OBJECT_ROUNDS = 10,
	/* Words of an iseq's code; a large `case` has some thousands. */
	CODE_WORDS_LIMIT = 1 << 17,
	/* A bit in the number of an environment: it leads to the heap. */
	IN_HEAP = 1,
};

/* What distinguishes the object at an address from one that replaces it. */
struct identity {
	uint64_t words[IDENTITY_WORDS];
};

struct key {
	uint64_t iseq, environment;
};

struct rcore_code {
	struct key key;
	uint64_t method;         /* rb_callable_method_entry_t; 0: none */
	uint64_t encoded, bytes; /* of an iseq's code, or 0 */
	uint64_t body;
	uint64_t locals; /* of an iseq */
	uint64_t cfunc;  /* of a method in C */
	/*
	 * Which words of an iseq's code are equal to its last one, which is
	 * `leave`, unless the code ends in another way: a bit for each word.
	 * NULL: unknown.
	 */
	uint8_t *leaves;
	uint32_t function;
	char *label, *path;
	bool is_c, is_used, is_lost;
	bool has_line;
	struct identity identity;
	UT_hash_handle hh;
	struct rcore_code *next_dropped;
};

static uint64_t field_of(const uint8_t *frame, const struct rcore_layout *layout,
			 const struct rcore_field *field)
{
	uint64_t value = 0;
	return rcore_has(field) && rcore_field_of(frame, layout->cfp.size, field, &value)
		       ? value
		       : 0;
}

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

static void drop(struct rcore_codes *codes, struct rcore_code *code)
{
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

void rcore_codes_begin_tick(struct rcore_codes *codes)
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
		drop(codes, codes->entries);
	codes->lost = 0;
}

static void forget_objects(struct rcore_codes *codes)
{
	codes->finish(&codes->ruby, codes->context);
	rcore_ruby_deinit(&codes->ruby);
	rcore_arena_deinit(&codes->arena);
	codes->arena = (struct rcore_arena){0};
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
	forget_objects(codes);
	codes->generation = codes->profile->generation;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

uint64_t rcore_code_environment(const struct rcore_layout *layout,
				const struct rcore_stack *stack, const uint8_t *frame)
{
	enum { FLAGS = 0, PARENT = 8, METHOD = 16, MAGIC = 0x7fff0000 };
	uint64_t ep = field_of(frame, layout, &layout->cfp.ep), hash = 0, flags, word;
	for (int i = 0; i < ENVIRONMENT_LIMIT; i++) {
		if (!rcore_stack_value(stack, ep - FLAGS, &flags))
			return mix(hash, ep) | IN_HEAP;
		if (rcore_stack_value(stack, ep - METHOD, &word))
			hash = mix(hash, word);
		if (!i)
			hash = mix(hash, flags & MAGIC);
		if (flags & RCORE_ENV_LOCAL || !rcore_stack_value(stack, ep - PARENT, &word))
			break;
		ep = word & ~(uint64_t)3;
	}
	return hash & ~(uint64_t)IN_HEAP;
}

/*
 * Reads words of the iseq, its body and its method entry that would differ in
 * an object that replaces them.
 */
static void identify(struct rcore_codes *codes, const struct rcore_code *code,
		     struct identity *ret)
{
	/* T_IMEMO and its type; the bits of the garbage collector change. */
	enum { TYPE_MASK = 0xffff };
	const struct rcore_layout *layout = codes->layout;
	struct rcore_memory *memory = codes->memory;
	uint64_t *words = ret->words;
	memset(ret, 0, sizeof(*ret));
	if (code->key.iseq && code->body) {
		rcore_read_field(memory, code->key.iseq, &layout->iseq.flags, &words[0]);
		rcore_read_field(memory, code->key.iseq, &layout->iseq.body, &words[1]);
		rcore_read_field(memory, code->body, &layout->iseq_body.iseq_encoded,
				 &words[2]);
		rcore_read_field(memory, code->body, &layout->iseq_body.pathobj, &words[3]);
		rcore_read_field(memory, code->body, &layout->iseq_body.label, &words[4]);
		words[0] &= TYPE_MASK;
	}
	if (code->method) {
		rcore_read_field(memory, code->method, &layout->cme.flags, &words[5]);
		rcore_read_field(memory, code->method, &layout->cme.defined_class, &words[6]);
		rcore_read_field(memory, code->method, &layout->cme.def, &words[7]);
		rcore_read_field(memory, code->method, &layout->cme.called_id, &words[8]);
		rcore_read_field(memory, code->method, &layout->cme.owner, &words[9]);
		words[5] &= TYPE_MASK;
	}
}

static void find_leaves(const struct rcore_codes *codes, struct rcore_code *code)
{
	size_t count = code->bytes / sizeof(uint64_t);
	if (!count || count > CODE_WORDS_LIMIT)
		return;
	uint64_t *words = malloc(code->bytes);
	uint8_t *leaves = calloc(1, count / CHAR_BIT + 1);
	if (words && leaves && !rcore_read(codes->memory, code->encoded, words, code->bytes)) {
		for (size_t i = 0; i < count; i++)
			if (words[i] == words[count - 1])
				leaves[i / CHAR_BIT] |= (uint8_t)(1 << i % CHAR_BIT);
		code->leaves = leaves;
		leaves = NULL;
	}
	free(leaves);
	free(words);
}

/* Whether the instruction before `pc` is a `leave`. */
static bool has_left(const struct rcore_code *code, uint64_t pc)
{
	if (!code->leaves || pc <= code->encoded || pc - code->encoded > code->bytes)
		return false;
	uint64_t i = (pc - code->encoded) / sizeof(uint64_t) - 1;
	return code->leaves[i / CHAR_BIT] >> i % CHAR_BIT & 1;
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
	if (codes->layout->traits.frames_pushed_first)
		find_leaves(codes, code);
	set_function(codes, code, label, iseq->path, iseq->first_line);
	return NULL;
}

static struct rcore_error *look_up(struct rcore_codes *codes, struct rcore_code *code,
				   uint64_t ep)
{
	const struct rcore_method_entry *method = NULL;
	const char *label = NULL, *problem = NULL;
	uint64_t flags;
	struct rcore_error *err = rcore_frame_flags(&codes->ruby, &ep, &flags);
	if (err)
		return err;
	uint64_t magic = flags & RCORE_FRAME_MAGIC_MASK;
	bool is_block_in_c = magic == RCORE_FRAME_MAGIC_IFUNC;
	if (magic == RCORE_FRAME_MAGIC_DUMMY && !code->key.iseq)
		return NULL;
	if (magic != RCORE_FRAME_MAGIC_DUMMY && !is_block_in_c) {
		err = rcore_frame_method_entry(&codes->ruby, ep, &code->method);
		if (!err && code->method)
			err = rcore_method_entry(&codes->ruby, code->method, &method);
	}
	code->is_c = is_block_in_c || magic == RCORE_FRAME_MAGIC_CFUNC;
	if (err)
		return err;
	if (magic == RCORE_FRAME_MAGIC_CFUNC && code->key.iseq)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "a C frame with an iseq");
	if (magic == RCORE_FRAME_MAGIC_METHOD &&
	    (!method || (method->type == RCORE_METHOD_ISEQ && method->iseq != code->key.iseq)))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "the frame's iseq is not its method's");
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

static struct rcore_code *add(struct rcore_codes *codes, const struct key *key, uint64_t ep)
{
	if (codes->count >= CODE_LIMIT)
		rcore_codes_forget(codes);
	struct rcore_code *code = calloc(1, sizeof(*code));
	if (!code)
		return NULL;
	code->key = *key;
	codes->looked_up++;
	struct rcore_error *err = look_up(codes, code, ep);
	if (!err) {
		identify(codes, code, &code->identity);
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

static bool is_within(const struct rcore_code *code, uint64_t pc)
{
	return !code->has_line || !pc || pc - code->encoded <= code->bytes;
}

void rcore_codes_find(struct rcore_codes *codes, const struct rcore_stack *stack, uint64_t cfp,
		      uint64_t environment, struct rcore_code_frame *ret)
{
	const struct rcore_layout *layout = codes->layout;
	const uint8_t *frame = rcore_stack_frame(stack, cfp);
	const struct key key = {field_of(frame, layout, &layout->cfp.iseq), environment};
	uint64_t pc = field_of(frame, layout, &layout->cfp.pc);
	struct rcore_code *code;
	if (codes->generation != codes->profile->generation)
		rcore_codes_forget(codes);
	HASH_FIND(hh, codes->entries, &key, sizeof(key), code);
	/*
	 * Compiled code saves the pc only when it must, so that of the
	 * innermost frame may be old. It may also be new, and the iseq old:
	 * rcore_codes_is_filled().
	 */
	bool may_be_stale = cfp == stack->cfp && (rcore_has(&layout->cfp.jit_return) ||
						  layout->traits.frames_pushed_first);
	if (code && !is_within(code, pc) && !may_be_stale) {
		codes->changed++;
		drop_all(codes);
		forget_objects(codes);
		code = NULL;
	}
	if (!code)
		code = add(codes, &key, field_of(frame, layout, &layout->cfp.ep));
	if (!code) {
		*ret = (struct rcore_code_frame){.frame = lost(codes)};
		return;
	}
	int line = 0;
	code->is_used = true;
	*ret = (struct rcore_code_frame){.label = code->label,
					 .path = code->path,
					 .is_c = code->is_c,
					 .cfunc = code->cfunc};
	bool is_stale = may_be_stale && (field_of(frame, layout, &layout->cfp.jit_return) ||
					 !is_within(code, pc));
	if (code->has_line && pc && !is_stale) {
		const struct rcore_iseq_info *iseq;
		struct rcore_error *err = rcore_iseq(&codes->ruby, key.iseq, &iseq);
		if (!err)
			err = rcore_iseq_line(&codes->ruby, iseq, pc, &line);
		rcore_error_free(err);
	}
	if (code->function)
		ret->frame = rcore_profile_frame(codes->profile, code->function,
						 line > 0 ? (uint32_t)line : 0);
}

/* Whether a word is the flags of a frame (ep[0]). */
static bool is_flags(uint64_t word)
{
	enum { FLAGS_MASK = RCORE_FRAME_MAGIC_MASK | 0xffe };
	switch (word & RCORE_FRAME_MAGIC_MASK) {
	case RCORE_FRAME_MAGIC_METHOD:
	case RCORE_FRAME_MAGIC_BLOCK:
	case RCORE_FRAME_MAGIC_CLASS:
	case RCORE_FRAME_MAGIC_TOP:
	case RCORE_FRAME_MAGIC_CFUNC:
	case RCORE_FRAME_MAGIC_IFUNC:
	case RCORE_FRAME_MAGIC_EVAL:
	case RCORE_FRAME_MAGIC_RESCUE:
		return !(word & ~(uint64_t)FLAGS_MASK);
	default:
		return false;
	}
}

/*
 * Whether another environment was begun between those of a frame's caller and
 * of the frame. All values there are live, and were written by the caller and
 * the frame, so that none is the flags of another frame.
 */
static bool has_newer(const struct rcore_stack *stack, uint64_t from, uint64_t ep)
{
	uint64_t word;
	for (uint64_t at = from + sizeof(word); at < ep; at += sizeof(word))
		if (rcore_stack_value(stack, at, &word) && is_flags(word))
			return true;
	return false;
}

/*
 * Whether the instruction that a caller runs has called another method in C
 * than `method`. Up to 2.7, the operands of an instruction that calls contain a
 * struct rb_call_data (2.6: rb_call_cache), whose `me` vm_search_method() sets
 * before the call. It is one of the first words, which have no other method
 * entry. Other entries, such as that of Kernel#send, may call any method.
 */
static bool calls_another(struct rcore_codes *codes, uint64_t pc, uint64_t method)
{
	enum { WORDS = 8, OPERANDS = 2 };
	uint64_t words[OPERANDS * WORDS] = {0}, operand;
	for (uint64_t i = 0; i < OPERANDS; i++)
		if (rcore_read_u64(codes->memory, pc - (i + 1) * sizeof(operand), &operand) ||
		    !operand || operand % sizeof(operand) ||
		    rcore_read(codes->memory, operand, words + i * WORDS,
			       WORDS * sizeof(*words)))
			memset(words + i * WORDS, 0, WORDS * sizeof(*words));
	for (size_t i = 0; i < RCORE_COUNT(words); i++)
		if (words[i] == method)
			return false;
	for (size_t i = 0; i < RCORE_COUNT(words); i++) {
		const struct rcore_method_entry *entry;
		struct rcore_error *err =
			words[i] && words[i] % sizeof(operand) == 0
				? rcore_method_entry(&codes->ruby, words[i], &entry)
				: rcore_error_create(RCORE_ERROR_CORRUPT, "no method entry");
		if (!err && entry->type == RCORE_METHOD_CFUNC)
			return true;
		rcore_error_free(err);
	}
	return false;
}

/* A frame that may not be filled, and its caller. */
struct pushed {
	const struct rcore_code *code;
	uint64_t self, ep, flags;
	uint64_t caller_pc, caller_sp;
	bool is_ruby; /* the caller */
};

/*
 * Whether a method has its environment where its caller puts it, if CRuby
 * itself, and not compiled code, pushed the frame.
 *
 *   - vm_call_iseq_setup_normal() leaves the caller's sp at the receiver;
 *     arguments, locals and environment follow.
 *   - vm_call_cfunc_with_frame() does so after it has pushed the frame. A frame
 *     that was popped is in its place, too, if the call that it was of had its
 *     receiver where this one's arguments end.
 *   - vm_call0_cfunc_with_frame(), which C code calls, leaves the caller's sp
 *     where the environment begins. (If an instruction such as checkmatch calls
 *     Module#===, that cannot be told from a frame that is being pushed.)
 */
static bool is_in_place(struct rcore_codes *codes, const struct rcore_stack *stack,
			const struct pushed *pushed)
{
	/* Method entry, block, flags; ep points to the last. */
	enum { ENVIRONMENT = 3 };
	const uint64_t word = sizeof(uint64_t), sp = pushed->caller_sp;
	uint64_t magic = pushed->flags & RCORE_FRAME_MAGIC_MASK, receiver;
	bool is_first = !rcore_has(&codes->layout->cfp.jit_return);
	if (magic == RCORE_FRAME_MAGIC_METHOD && !(pushed->flags & RCORE_FRAME_FINISH))
		return !pushed->is_ruby ||
		       pushed->ep == sp + (pushed->code->locals + ENVIRONMENT) * word;
	if (magic != RCORE_FRAME_MAGIC_CFUNC || !is_first)
		return true;
	if (!pushed->caller_pc)
		return pushed->ep == sp + (ENVIRONMENT - 1) * word;
	return rcore_stack_value(stack, sp, &receiver) && receiver == pushed->self &&
	       pushed->ep >= sp + ENVIRONMENT * word &&
	       !calls_another(codes, pushed->caller_pc, pushed->code->method);
}

/*
 * Whether the innermost frame of a thread is the one that was pushed last. If
 * CRuby counts a frame in ec->cfp before it fills it
 * (traits.frames_pushed_first), and the kernel preempts the thread in between,
 * the innermost frame is one that was popped before, or has some words of it.
 * These things show it:
 *
 *   - Its pc. vm_push_frame() of 2.7 writes it first, and the iseq next. So if
 *     the pc is not within the code of the iseq, or a frame in C has a pc, the
 *     iseq is an old one. Compiled code writes no pc.
 *   - Its pc if it is not new. `leave` pops a frame, and saves the pc first. If
 *     a pc is that after a `leave`, the frame was popped or will be. (A frame
 *     that waits for the GVL does so within a `leave`, and is not tested.)
 *   - Its environment, if that is not of its iseq: look_up() fails.
 *   - The place of its environment, if it is a method.
 *   - Another environment below its own. Compiled code writes that of the new
 *     frame before ec->cfp. If it is higher, the new frame's arguments and the
 *     caller's values are where the environment of the old frame was.
 */
bool rcore_codes_is_filled(struct rcore_codes *codes, const struct rcore_stack *stack,
			   uint64_t environment)
{
	const struct rcore_layout *layout = codes->layout;
	size_t step = layout->cfp.size;
	const uint8_t *frame = rcore_stack_frame(stack, stack->cfp), *caller = frame + step;
	const struct key key = {field_of(frame, layout, &layout->cfp.iseq), environment};
	uint64_t pc = field_of(frame, layout, &layout->cfp.pc), flags, word;
	uint64_t ep = field_of(frame, layout, &layout->cfp.ep);
	const struct rcore_code *code;
	if (!layout->traits.frames_pushed_first)
		return true;
	HASH_FIND(hh, codes->entries, &key, sizeof(key), code);
	if (!code || (!key.iseq && pc))
		return false;
	bool is_first = !rcore_has(&layout->cfp.jit_return);
	if (is_first && code->has_line && (!pc || !is_within(code, pc)))
		return false;
	if (code->has_line && has_left(code, pc))
		return false;
	if (stack->cfp + 2 * step >= stack->top || !rcore_stack_value(stack, ep, &flags))
		return true;
	const struct pushed pushed = {
		.code = code,
		.self = field_of(frame, layout, &layout->cfp.self),
		.ep = ep,
		.flags = flags,
		.caller_pc = field_of(caller, layout, &layout->cfp.pc),
		.caller_sp = field_of(caller, layout, &layout->cfp.sp),
		.is_ruby = field_of(caller, layout, &layout->cfp.iseq),
	};
	uint64_t outer = field_of(caller, layout, &layout->cfp.ep);
	/* The caller's own environment may have been moved to the heap. */
	if (!rcore_stack_value(stack, outer, &word) || outer >= ep)
		outer = pushed.caller_sp;
	return !has_newer(stack, outer, ep) && is_in_place(codes, stack, &pushed);
}

void rcore_codes_verify(struct rcore_codes *codes, struct rcore_live *live)
{
	bool has_changed = false;
	for (struct rcore_code *code = codes->entries, *next; code; code = next) {
		struct identity now;
		next = code->hh.next;
		if (!code->is_used)
			continue;
		code->is_used = false;
		codes->verified++;
		if (code->key.environment & IN_HEAP) {
			/* The words there may point elsewhere now. */
			drop(codes, code);
			continue;
		}
		identify(codes, code, &now);
		if (memcmp(&now, &code->identity, sizeof(now))) {
			has_changed = true;
			codes->changed++;
			drop(codes, code);
		}
	}
	/* Classes get names, and texts of objects use memory. */
	if (has_changed || ++codes->rounds % OBJECT_ROUNDS == 0)
		forget_objects(codes);
}
