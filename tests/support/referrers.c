/* SPDX-License-Identifier: MIT */
#include "referrers.h"

#include <string.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "fake_values.h"
#include "ruby/iseq/frame_flags.h"
#include "ruby/object/value.h"

#define PUT(base, struct_id, id, value) \
	fake_put_field(&ruby->target, base, &ruby->layout.struct_id.id, value)
#define HAS(struct_id, id) rcore_has(&ruby->layout.struct_id.id)
/* A member that refers to a new object, if this Ruby has it. */
#define REFER(base, struct_id, id)                                  \
	do {                                                        \
		if (HAS(struct_id, id))                             \
			PUT(base, struct_id, id, refer(ruby, ret)); \
	} while (0)

uint64_t refer(struct fake_ruby *ruby, struct referrer *referrer)
{
	uint64_t value = fake_string(ruby, "referred to");
	referrer->references[referrer->count++] = value;
	return value;
}

static void made(struct referrer *ret, const char *name, uint64_t object)
{
	ret->name = name;
	ret->object = object;
}

/* Up to 3.1, the class has the names of the variables. */
static uint64_t give_class(struct fake_ruby *ruby, struct referrer *ret, uint64_t object)
{
	uint64_t klass = fake_named_class(ruby, "Referrer", 0);
	ret->references[ret->count++] = klass;
	return fake_instance(ruby, object, klass);
}

static void with_ivars(struct fake_ruby *ruby, struct referrer *ret, const char *name,
		       uint64_t object, enum fake_ivar_storage storage)
{
	enum { IVARS = 2 };
	struct fake_ivar ivars[IVARS];
	made(ret, name, give_class(ruby, ret, object));
	for (size_t i = 0; i < IVARS; i++)
		ivars[i] = (struct fake_ivar){fake_id(ruby, "@ivar"), refer(ruby, ret)};
	fake_set_ivars(ruby, object, storage, ivars, IVARS);
}

static void make_embedded(struct fake_ruby *ruby, struct referrer *ret)
{
	with_ivars(ruby, ret, "object, embedded", fake_object(ruby, RCORE_T_OBJECT, 40),
		   FAKE_IVAR_EMBEDDED);
}

static void make_object(struct fake_ruby *ruby, struct referrer *ret)
{
	with_ivars(ruby, ret, "object", fake_object(ruby, RCORE_T_OBJECT, 40), FAKE_IVAR_HEAP);
}

static void make_complex_object(struct fake_ruby *ruby, struct referrer *ret)
{
	with_ivars(ruby, ret, "object, too complex", fake_object(ruby, RCORE_T_OBJECT, 40),
		   FAKE_IVAR_TOO_COMPLEX);
}

/* From 4.0 on, the String refers to an imemo that has them. */
static void make_generic(struct fake_ruby *ruby, struct referrer *ret)
{
	with_ivars(ruby, ret, "generic ivars", fake_string(ruby, "text"), FAKE_IVAR_HEAP);
	fake_put_generic_ivars(ruby);
	if (HAS(gen_ivtbl, ivptr))
		return;
	ret->count = 1;
	ret->references[ret->count++] = ruby->generic[ruby->generic_count - 1][1];
}

static void make_array_embedded(struct fake_ruby *ruby, struct referrer *ret)
{
	const uint64_t elements[] = {refer(ruby, ret), FAKE_FIXNUM(1), refer(ruby, ret)};
	made(ret, "array, embedded", fake_array_embedded(ruby, elements, 3));
}

static void make_array(struct fake_ruby *ruby, struct referrer *ret)
{
	const uint64_t elements[] = {refer(ruby, ret), FAKE_FIXNUM(1), refer(ruby, ret), 0};
	made(ret, "array", fake_array_heap(ruby, elements, 4));
}

static void make_array_shared(struct fake_ruby *ruby, struct referrer *ret)
{
	made(ret, "array, shared",
	     fake_object(ruby, RCORE_T_ARRAY | ruby->layout.traits.shared_flag, 40));
	REFER(ret->object, array, shared_root);
}

static void make_string_shared(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t flags = ruby->layout.traits.shared_flag |
			 (uint64_t)ruby->layout.constant.string_noembed;
	made(ret, "string, shared", fake_object(ruby, RCORE_T_STRING | flags, 40));
	REFER(ret->object, string, shared);
}

static void make_hash_ar(struct fake_ruby *ruby, struct referrer *ret)
{
	const struct fake_pair pairs[] = {{refer(ruby, ret), FAKE_FIXNUM(1)},
					  {FAKE_FIXNUM(2), refer(ruby, ret)}};
	made(ret, "hash", fake_hash_ar(ruby, pairs, 2, 0));
	REFER(ret->object, hash, ifnone);
}

static void make_hash_st(struct fake_ruby *ruby, struct referrer *ret)
{
	struct fake_pair pairs[20];
	for (size_t i = 0; i < RCORE_COUNT(pairs); i++)
		pairs[i] = (struct fake_pair){FAKE_FIXNUM(i), refer(ruby, ret)};
	made(ret, "hash with a st_table", fake_hash_st(ruby, pairs, RCORE_COUNT(pairs), 0));
}

static void make_struct(struct fake_ruby *ruby, struct referrer *ret)
{
	const uint64_t members[] = {refer(ruby, ret), refer(ruby, ret)};
	made(ret, "struct", fake_struct(ruby, 0, members, 2, true));
	give_class(ruby, ret, ret->object);
}

static void make_large_struct(struct fake_ruby *ruby, struct referrer *ret)
{
	const uint64_t members[] = {refer(ruby, ret), refer(ruby, ret), refer(ruby, ret),
				    refer(ruby, ret)};
	made(ret, "struct with its own memory", fake_struct(ruby, 0, members, 4, false));
}

static void make_file(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t io = fake_alloc(&ruby->target, ruby->layout.io.size, 8);
	made(ret, "file", fake_object(ruby, RCORE_T_FILE, 40));
	PUT(ret->object, file, fptr, io);
	REFER(io, io, pathv);
	REFER(io, io, self);
	REFER(io, io, tied_io);
	REFER(io, io, asciicompat);
	REFER(io, io, pre_ecopts);
	REFER(io, io, ecopts);
	REFER(io, io, write_lock);
	REFER(io, io, timeout);
	REFER(io, io, wakeup_mutex);
}

static void make_regexp(struct fake_ruby *ruby, struct referrer *ret)
{
	made(ret, "regexp", fake_object(ruby, RCORE_T_REGEXP, 40));
	REFER(ret->object, regexp, src);
}

static void make_match(struct fake_ruby *ruby, struct referrer *ret)
{
	made(ret, "match", fake_object(ruby, RCORE_T_MATCH, 48));
	REFER(ret->object, match, regexp);
	REFER(ret->object, match, str);
}

static void make_rational(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t num = refer(ruby, ret), den = refer(ruby, ret);
	made(ret, "rational", fake_rational(ruby, num, den));
}

static void make_complex(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t real = refer(ruby, ret), imag = refer(ruby, ret);
	made(ret, "complex", fake_complex(ruby, real, imag));
}

static uint64_t imemo(struct fake_ruby *ruby, struct referrer *ret, const char *name,
		      unsigned type)
{
	made(ret, name, fake_imemo(ruby, type, 64));
	return ret->object;
}

static void make_cref(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t object = imemo(ruby, ret, "cref", ruby->layout.traits.imemo_cref);
	REFER(object, cref, klass);
	REFER(object, cref, next);
	REFER(object, cref, refinements);
}

static void make_svar(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t object = imemo(ruby, ret, "svar", ruby->layout.traits.imemo_svar);
	REFER(object, svar, cref_or_me);
	REFER(object, svar, lastline);
	REFER(object, svar, backref);
	REFER(object, svar, others);
}

static void make_throw(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t object = imemo(ruby, ret, "throw", ruby->layout.traits.imemo_throw_data);
	REFER(object, throw_data, throw_obj);
}

static void make_ifunc(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t object = imemo(ruby, ret, "ifunc", ruby->layout.traits.imemo_ifunc);
	REFER(object, ifunc, data);
}

static void make_memo(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t object = imemo(ruby, ret, "memo", ruby->layout.traits.imemo_memo);
	REFER(object, memo, v1);
	REFER(object, memo, v2);
	REFER(object, memo, u3);
}

static void make_tmpbuf(struct fake_ruby *ruby, struct referrer *ret)
{
	enum { WORDS = 3 };
	uint64_t object = imemo(ruby, ret, "tmpbuf", ruby->layout.traits.imemo_tmpbuf);
	uint64_t words = fake_alloc(&ruby->target, WORDS * sizeof(uint64_t), 8);
	for (size_t i = 0; i < WORDS; i++)
		fake_put(&ruby->target, words + i * sizeof(uint64_t), refer(ruby, ret));
	PUT(object, tmpbuf, ptr, words);
	PUT(object, tmpbuf, count, WORDS);
}

static void make_env(struct fake_ruby *ruby, struct referrer *ret)
{
	enum { LOCALS = 2, WORDS = LOCALS + 4, FLAGS = WORDS - 2 };
	uint64_t object = imemo(ruby, ret, "env", ruby->layout.traits.imemo_env);
	uint64_t values = fake_alloc(&ruby->target, WORDS * sizeof(uint64_t), 8);
	for (size_t i = 0; i < LOCALS; i++)
		fake_put(&ruby->target, values + i * sizeof(uint64_t), refer(ruby, ret));
	fake_put(&ruby->target, values + FLAGS * sizeof(uint64_t), RCORE_ENV_LOCAL);
	PUT(object, env, ep, values + FLAGS * sizeof(uint64_t));
	PUT(object, env, values, values);
	PUT(object, env, count, WORDS);
	REFER(object, env, iseq);
}

static uint64_t method(struct fake_ruby *ruby, struct referrer *ret, const char *name,
		       enum rcore_method_type type)
{
	uint64_t def = fake_alloc(&ruby->target, ruby->layout.method_def.size, 8);
	uint64_t object = imemo(ruby, ret, name, ruby->layout.traits.imemo_ment);
	PUT(object, cme, def, def);
	PUT(def, method_def, type, type);
	REFER(object, cme, owner);
	REFER(object, cme, defined_class);
	return def;
}

static void make_method(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t def = method(ruby, ret, "method", RCORE_METHOD_ISEQ);
	REFER(def, method_def, iseqptr);
	REFER(def, method_def, cref);
}

static void make_reader(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t def = method(ruby, ret, "attr_reader", RCORE_METHOD_IVAR);
	REFER(def, method_def, attr_location);
}

static void make_bmethod(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t def = method(ruby, ret, "define_method", RCORE_METHOD_BMETHOD);
	REFER(def, method_def, bmethod_proc);
	if (!HAS(method_def, bmethod_hooks))
		return;
	uint64_t list = fake_alloc(&ruby->target, ruby->layout.hook_list.size, 8);
	uint64_t hook = fake_alloc(&ruby->target, ruby->layout.event_hook.size, 8);
	PUT(def, method_def, bmethod_hooks, list);
	PUT(list, hook_list, hooks, hook);
	REFER(hook, event_hook, data);
}

static void make_alias(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t def = method(ruby, ret, "alias", RCORE_METHOD_ALIAS);
	REFER(def, method_def, alias_me);
}

static void make_iseq(struct fake_ruby *ruby, struct referrer *ret)
{
	enum { KEYWORDS = 2, CATCHES = 2 };
	const struct rcore_layout *layout = &ruby->layout;
	uint64_t object = imemo(ruby, ret, "iseq", layout->traits.imemo_iseq);
	uint64_t body = fake_alloc(&ruby->target, layout->iseq_body.size, 8);
	uint64_t keyword = fake_alloc(&ruby->target, layout->keyword.size, 8);
	uint64_t defaults = fake_alloc(&ruby->target, KEYWORDS * sizeof(uint64_t), 8);
	uint64_t entries = (uint64_t)layout->catch_table.entries.offset;
	uint64_t catches =
		fake_alloc(&ruby->target, entries + CATCHES * layout->catch_entry.size, 8);
	PUT(object, iseq, body, body);
	REFER(object, iseq, wrapper);
	REFER(body, iseq_body, pathobj);
	REFER(body, iseq_body, label);
	REFER(body, iseq_body, base_label);
	REFER(body, iseq_body, parent_iseq);
	PUT(body, iseq_body, has_kw, 1);
	PUT(body, iseq_body, keyword, keyword);
	PUT(keyword, keyword, num, KEYWORDS);
	PUT(keyword, keyword, default_values, defaults);
	for (size_t i = 0; i < KEYWORDS; i++)
		fake_put(&ruby->target, defaults + i * sizeof(uint64_t), refer(ruby, ret));
	PUT(body, iseq_body, catch_table, catches);
	PUT(catches, catch_table, count, CATCHES);
	for (size_t i = 0; i < CATCHES; i++)
		REFER(catches + entries + i * layout->catch_entry.size, catch_entry, iseq);
}

/*
 * Up to 3.1: the inline storage of a variable leads to an entry of malloc memory
 * that begins with an index of 32 bits. What is beside it may make it look like
 * the flags of an object.
 */
static void make_inline_storage(struct fake_ruby *ruby, struct referrer *ret)
{
	const struct rcore_layout *layout = &ruby->layout;
	enum { MARKABLE = 1 << (RCORE_FL_USHIFT + 8) }; /* ISEQ_MARKABLE_ISEQ */
	if (HAS(iseq_body, mark_bits) || !HAS(iv_index, class_value))
		return;
	uint64_t object =
		imemo(ruby, ret, "iseq with inline storage", layout->traits.imemo_iseq);
	uint64_t body = fake_alloc(&ruby->target, layout->iseq_body.size, 8);
	uint64_t storage = fake_alloc(&ruby->target, layout->inline_storage.size, 8);
	uint64_t entry = fake_alloc(&ruby->target, layout->iv_index.size, 8);
	uint64_t encoded = fake_alloc(&ruby->target, sizeof(uint64_t), 8), flags;
	rcore_read_u64(&ruby->target.memory, object, &flags);
	fake_put(&ruby->target, object, flags | MARKABLE);
	PUT(object, iseq, body, body);
	PUT(body, iseq_body, iseq_size, 1);
	PUT(body, iseq_body, iseq_encoded, encoded);
	PUT(body, iseq_body, is_entries, storage);
	PUT(body, iseq_body, is_size, 1);
	fake_put(&ruby->target, encoded, storage);
	fake_put(&ruby->target, storage, entry);
	fake_put(&ruby->target, entry,
		 RCORE_T_IMEMO | layout->traits.imemo_constcache << RCORE_FL_USHIFT);
	REFER(entry, iv_index, class_value);
}

/* Its methods and constants: a rb_id_table each. */
static uint64_t id_table(struct fake_ruby *ruby, const uint64_t *values, size_t count)
{
	size_t size = ruby->layout.id_item.size;
	uint64_t table = fake_alloc(&ruby->target, ruby->layout.id_table.size, 8);
	uint64_t items = fake_alloc(&ruby->target, 2 * count * size, 8);
	PUT(table, id_table, capacity, 2 * count);
	PUT(table, id_table, count, count);
	PUT(table, id_table, items, items);
	for (size_t i = 0; i < count; i++) {
		PUT(items + 2 * i * size, id_item, key, 300 + i);
		PUT(items + 2 * i * size, id_item, value, values[i]);
	}
	return table;
}

static void make_class(struct fake_ruby *ruby, struct referrer *ret)
{
	const struct rcore_layout *layout = &ruby->layout;
	struct fake_class of = {.type = RCORE_T_CLASS, .path = "Referrer", .permanent = true};
	uint64_t super = fake_named_class(ruby, "Super", 0);
	uint64_t klass = fake_class(ruby, &of), ext = klass + layout->klass.size, path = 0;
	made(ret, "class", klass);
	if (HAS(klass, ptr))
		rcore_read_field(&ruby->target.memory, klass, &layout->klass.ptr, &ext);
	else if (HAS(klass_and_ext, classext))
		ext = klass + (uint64_t)layout->klass_and_ext.classext.offset;
	ret->references[ret->count++] = super;
	PUT(klass, klass, super, super);
	PUT(ext, classext, super, super);
	uint64_t methods = id_table(ruby, (uint64_t[]){refer(ruby, ret), refer(ruby, ret)}, 2);
	PUT(klass, klass, m_tbl, methods);
	PUT(ext, classext, m_tbl, methods);
	uint64_t constant = fake_alloc(&ruby->target, layout->const_entry.size, 8);
	REFER(constant, const_entry, value);
	REFER(constant, const_entry, file);
	PUT(ext, classext, const_tbl, id_table(ruby, &constant, 1));
	/* Its name, and what put_names() of fake_ruby.c adds. */
	if (HAS(classext, classpath)) {
		rcore_read_field(&ruby->target.memory, ext, &layout->classext.classpath, &path);
		ret->references[ret->count++] = path;
	}
	ret->is_scanned = !path;
}

uint64_t fake_typed(struct fake_ruby *ruby, const char *type_name, uint64_t data)
{
	uint64_t type = fake_alloc(&ruby->target, ruby->layout.data_type.size, 8);
	uint64_t name = fake_alloc(&ruby->target, strlen(type_name) + 1, 8);
	uint64_t typed = HAS(data, typed_flag)
				 ? 0
				 : (uint64_t)ruby->layout.constant.typed_fl_is_typed_data;
	uint64_t object = fake_object(ruby, RCORE_T_DATA | typed, 48);
	fake_write(&ruby->target, name, type_name, strlen(type_name) + 1);
	PUT(type, data_type, wrap_struct_name, name);
	PUT(type, data_type, dmark, 0x1000);
	PUT(object, data, typed_flag, 1);
	PUT(object, data, type, type);
	PUT(object, data, data, data);
	return object;
}

static uint64_t typed(struct fake_ruby *ruby, struct referrer *ret, const char *type,
		      uint32_t size)
{
	uint64_t data = fake_alloc(&ruby->target, size, 8);
	made(ret, type, fake_typed(ruby, type, data));
	return data;
}

static void make_method_object(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t data = typed(ruby, ret, "method", ruby->layout.method.size);
	REFER(data, method, recv);
	REFER(data, method, klass);
	REFER(data, method, iclass);
	REFER(data, method, owner);
	REFER(data, method, me);
}

static void make_enumerator(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t data = typed(ruby, ret, "enumerator", ruby->layout.enumerator.size);
	REFER(data, enumerator, obj);
	REFER(data, enumerator, args);
	REFER(data, enumerator, fib);
	REFER(data, enumerator, dst);
	REFER(data, enumerator, lookahead);
	REFER(data, enumerator, feedvalue);
	REFER(data, enumerator, stop_exc);
	REFER(data, enumerator, size_value);
	REFER(data, enumerator, procs);
}

static void make_proc(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t data = typed(ruby, ret, "proc", ruby->layout.proc.size);
	uint64_t block = data + (uint64_t)ruby->layout.proc.block.offset;
	uint64_t words = fake_alloc(&ruby->target, 2 * sizeof(uint64_t), 8);
	fake_put(&ruby->target, words + sizeof(uint64_t), refer(ruby, ret));
	REFER(block, block, self);
	REFER(block, block, code);
	PUT(block, block, ep, words);
	PUT(block, block, type, 0);
}

static void make_queue(struct fake_ruby *ruby, struct referrer *ret)
{
	uint64_t data = typed(ruby, ret, "queue", ruby->layout.queue.size);
	REFER(data, queue, que);
}

/* RUBY_TYPED_DECL_MARKING, 3.3 on. */
static void make_declared(struct fake_ruby *ruby, struct referrer *ret)
{
	enum { DECLARES_REFERENCES = 1 << 14 };
	uint64_t data = typed(ruby, ret, "declared", 32), type = 0;
	const uint64_t list[] = {8, 24, UINT64_MAX};
	uint64_t offsets = fake_alloc(&ruby->target, sizeof(list), 8);
	fake_write(&ruby->target, offsets, list, sizeof(list));
	rcore_read_field(&ruby->target.memory, ret->object, &ruby->layout.data.type, &type);
	PUT(type, data_type, dmark, offsets);
	PUT(type, data_type, flags, DECLARES_REFERENCES);
	fake_put(&ruby->target, data + 8, refer(ruby, ret));
	fake_put(&ruby->target, data + 24, refer(ruby, ret));
}

/* A chunk of malloc(). */
static void make_unknown(struct fake_ruby *ruby, struct referrer *ret)
{
	enum { CHUNK = 64, HEADER = 16, IN_USE = 1 };
	uint64_t chunk = fake_alloc(&ruby->target, HEADER + CHUNK, 16);
	uint64_t data = chunk + HEADER;
	made(ret, "type of an extension", fake_typed(ruby, "extension", data));
	ret->is_scanned = true;
	fake_put(&ruby->target, chunk + 8, CHUNK | IN_USE);
	for (size_t i = 0; i < 3; i++)
		fake_put(&ruby->target, data + 16 * i, refer(ruby, ret));
}

make_referrer *const referrers[] = {
	make_embedded,   make_object,         make_complex_object, make_generic,
	make_array,      make_array_embedded, make_array_shared,   make_string_shared,
	make_hash_ar,    make_hash_st,        make_struct,         make_large_struct,
	make_file,       make_regexp,         make_match,          make_rational,
	make_complex,    make_cref,           make_svar,           make_throw,
	make_ifunc,      make_memo,           make_tmpbuf,         make_env,
	make_method,     make_reader,         make_bmethod,        make_alias,
	make_iseq,       make_inline_storage, make_class,          make_method_object,
	make_enumerator, make_proc,           make_queue,          make_declared,
	make_unknown,
};
const size_t referrer_count = RCORE_COUNT(referrers);
