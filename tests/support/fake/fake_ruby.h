/* SPDX-License-Identifier: MIT */
#ifndef FAKE_RUBY_H
#define FAKE_RUBY_H

#include "fake_target.h"
#include "ruby/iseq/iseq.h"
#include "ruby/iseq/method.h"

/*
 * Objects of CRuby in fake memory, laid out as in a layout, for tests of the
 * decoders. Each function returns the address or VALUE of what it made.
 */
enum { FAKE_STATICS_SIZE = 128, FAKE_GENERIC_COUNT = 256 };
struct fake_ruby {
	struct fake_target target;
	struct rcore_layout layout;
	uint64_t symbols; /* rb_symbols_t: operators, "max", "min", then those of fake_id() */
	uint64_t serials; /* the next serial */
	uint64_t units;   /* elements of rb_symbols_t.ids */
	uint64_t statics; /* FAKE_STATICS_SIZE bytes of static variables */
	uint64_t shapes;  /* the array of shapes, from 3.2 on */
	uint64_t shape_count, shape_tree;
	uint32_t too_complex;                    /* ID of that shape */
	uint64_t generic[FAKE_GENERIC_COUNT][2]; /* objects and what the generic table has */
	size_t generic_count;
	uint64_t classpath, tmp_classpath, attached; /* IDs */
};

/* `layout` is copied. */
void fake_ruby_init(struct fake_ruby *ruby, const struct rcore_layout *layout);
void fake_ruby_deinit(struct fake_ruby *ruby);

uint64_t fake_object(struct fake_ruby *ruby, uint64_t flags, size_t size);
uint64_t fake_imemo(struct fake_ruby *ruby, unsigned type, size_t size);

uint64_t fake_string_embedded(struct fake_ruby *ruby, const char *bytes, size_t length);
uint64_t fake_string_heap(struct fake_ruby *ruby, const char *bytes, size_t length);
/* Embedded if it fits into 40 bytes, as CRuby does it. */
uint64_t fake_string(struct fake_ruby *ruby, const char *text);

uint64_t fake_array_embedded(struct fake_ruby *ruby, const uint64_t *elements, size_t count);
uint64_t fake_array_heap(struct fake_ruby *ruby, const uint64_t *elements, size_t count);

/* Returns the ID of a new symbol. */
uint64_t fake_id(struct fake_ruby *ruby, const char *name);

struct fake_class {
	enum rcore_type type;
	bool is_singleton;
	const char *path; /* NULL: anonymous */
	bool permanent;
	uint64_t attached;
	uint64_t klass; /* RBasic.klass, for a T_ICLASS */
};
uint64_t fake_class(struct fake_ruby *ruby, const struct fake_class *of);

struct fake_iseq {
	enum rcore_iseq_type type;
	const char *path, *label;
	bool path_and_realpath; /* location.pathobj is an Array */
	int first_line;
	uint64_t parent, local; /* local 0: itself */
	bool is_c_trace;
	uint32_t size;             /* words of code; 0: 4 */
	const uint32_t *positions; /* where each line entry begins, ascending */
	const int *lines;
	uint32_t line_count;
};
uint64_t fake_iseq(struct fake_ruby *ruby, const struct fake_iseq *of);
/* Returns iseq_encoded, for a pc. */
uint64_t fake_iseq_code(struct fake_ruby *ruby, uint64_t iseq);

/* A rb_callable_method_entry_t; `body` is the iseq or the C function. */
uint64_t fake_method(struct fake_ruby *ruby, enum rcore_method_type type, uint64_t owner,
		     uint64_t id, uint64_t body);

/* Makes an environment and returns its ep. */
uint64_t fake_env(struct fake_ruby *ruby, uint64_t me_cref, uint64_t outer, uint64_t flags);

struct fake_page {
	size_t slot_size; /* ignored where this Ruby has but one */
	size_t slots;
	const uint64_t *flags; /* of each slot */
};
/*
 * Makes a rb_objspace with these pages. Stores each page's first slot in
 * starts[], which may be NULL.
 */
uint64_t fake_objspace(struct fake_ruby *ruby, const struct fake_page *pages, size_t count,
		       uint64_t *starts);

#endif
