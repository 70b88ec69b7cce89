/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_SAMPLES_H
#define RCORE_PROOF_SAMPLES_H

#include "ruby/ruby.h"
#include "target/process.h"

/* A few instances of a struct prove its fields as well as ten thousand. */
enum { RCORE_SAMPLES = 128 };

struct rcore_sample_list {
	uint64_t at[RCORE_SAMPLES];
	size_t count;
};

/*
 * Sample objects: instances of Ruby's structs in a target, on which single
 * fields are checked. They are found from the VM through the first members of
 * each struct, which no patch release of 2.6 to 4.0 has moved. So the rest of
 * the layout may be wrong. The names are those of fields.def.
 */
struct rcore_samples {
	struct rcore_ruby *ruby;
	const struct rcore_process *process; /* NULL: not known */
	struct rcore_sample_list vm, ractor, thread, native_thread, ec, fiber, jit_cont, cfp,
		iseq, iseq_body, cme, method_def, data, data_type, mutex, objspace, symbols,
		box;

	/*
	 * Objects of the heap. The heap also adds to the lists above, except
	 * thread, ec and fiber.
	 */
	struct rcore_sample_list string, array, object, hash, float_, bignum, rational,
		complex_, rstruct, regexp, pattern, match, rmatch, symbol, file, io, klass,
		iclass, env, svar;
	/* with ivars in a table of the VM; up to 3.4 */
	struct rcore_sample_list generic;
	/* What Ruby's own T_DATA wrap. */
	struct rcore_sample_list parked, proc, block, method, time, enumerator, enum_chain,
		generator, encoding, backtrace, location, set_table, monitor, queue, szqueue,
		condvar;
	/* On lists of waiters. */
	struct rcore_sample_list join_waiter, waiting_fd, sync_waiter, blocking_operation;
};

/* `ruby` with its layout, and `process`, must outlive it. */
void rcore_samples_take(struct rcore_ruby *ruby, const struct rcore_process *process,
			uint64_t vm, struct rcore_samples *ret);

/*
 * Adds objects of the heap, the first ones of each kind. Call it after
 * rcore_samples_take(). Reads at most as many objects as a small program has.
 */
void rcore_samples_take_heap(struct rcore_samples *samples);

/* Adds an address if there is room and it is not in the list yet. */
void rcore_samples_add(struct rcore_sample_list *list, uint64_t address);

/*
 * Adds the struct that a field points to and returns its address, or 0 if there
 * is none.
 */
uint64_t rcore_samples_follow(struct rcore_samples *samples, uint64_t base,
			      const struct rcore_field *field, struct rcore_sample_list *list);

/*
 * Returns whether there is an error. If memory is short, the checks show
 * nothing about the layout: notes that in the reader.
 */
static inline bool rcore_sample_failed(const struct rcore_samples *samples,
				       const struct rcore_error *err)
{
	samples->ruby->lacks_memory |= err && err->code == RCORE_ERROR_NO_MEMORY;
	return err;
}

/* The main thread. */
static inline uint64_t rcore_samples_main_thread(const struct rcore_samples *samples)
{
	return samples->thread.count ? samples->thread.at[0] : 0;
}

/*
 * Reads the field of the struct at `base`. Returns false if there is no such
 * field or no base, or it cannot be read.
 */
static inline bool rcore_sample_read(const struct rcore_samples *samples, uint64_t base,
				     const struct rcore_field *field, uint64_t *ret)
{
	return base && rcore_has(field) &&
	       !rcore_read_field(samples->ruby->memory, base, field, ret);
}

#endif
