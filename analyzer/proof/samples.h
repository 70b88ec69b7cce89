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
 * Sample objects: instances of Ruby's structs in a target, to check single
 * fields on. They are reached from the VM through the members at the head of
 * each struct, which no patch release of 2.6 to 4.0 has moved: the rest of the
 * layout may be wrong. Named as in fields.def.
 */
struct rcore_samples {
	struct rcore_ruby *ruby;
	const struct rcore_process *process; /* NULL: not known */
	struct rcore_sample_list vm, ractor, thread, native_thread, ec, fiber, jit_cont, cfp,
		iseq, iseq_body, cme, method_def, data, data_type, mutex, objspace, symbols,
		box;

	/* Of the object heap; those above grow, too, but for thread, ec and
	 * fiber. */
	struct rcore_sample_list string, array, object, hash, float_, bignum, rational,
		complex_, rstruct, regexp, pattern, match, rmatch, symbol, file, io, klass,
		iclass, env, svar;
	struct rcore_sample_list generic; /* with ivars in a table of the VM's; up to 3.4 */
	/* What Ruby's own T_DATA wrap. */
	struct rcore_sample_list parked, proc, block, method, time, enumerator, enum_chain,
		generator, encoding, backtrace, location, set_table, monitor, queue, szqueue,
		condvar;
	/* On lists of who waits. */
	struct rcore_sample_list join_waiter, waiting_fd, sync_waiter, blocking_operation;
};

/* `ruby` with its layout, and `process`, must outlive it. */
void rcore_samples_take(struct rcore_ruby *ruby, const struct rcore_process *process,
			uint64_t vm, struct rcore_samples *ret);

/*
 * Adds what the object heap holds, the first of each kind; after
 * rcore_samples_take(). Goes through as many objects as a small program has, no
 * more.
 */
void rcore_samples_take_heap(struct rcore_samples *samples);

/* One more, if there is room and it is not there yet. */
void rcore_samples_add(struct rcore_sample_list *list, uint64_t address);

/* Adds the struct that a pointer of another leads to, and returns its address;
 * 0 if there is none. */
uint64_t rcore_samples_follow(struct rcore_samples *samples, uint64_t base,
			      const struct rcore_field *field, struct rcore_sample_list *list);

/* The main thread. */
static inline uint64_t rcore_samples_main_thread(const struct rcore_samples *samples)
{
	return samples->thread.count ? samples->thread.at[0] : 0;
}

/* The field of the struct at `base`; false: no such field, no base, unreadable. */
static inline bool rcore_sample_read(const struct rcore_samples *samples, uint64_t base,
				     const struct rcore_field *field, uint64_t *ret)
{
	return base && rcore_has(field) &&
	       !rcore_read_field(samples->ruby->memory, base, field, ret);
}

#endif
