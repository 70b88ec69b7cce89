/* SPDX-License-Identifier: MIT */
#include "proof/prove.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/count.h"
#include "proof/check.h"
#include "proof/fiber_state.h"
#include "ruby/heap/heap.h"
#include "ruby/symbol/id.h"
#include "ruby/iseq/iseq.h"
#include "vm/find/find.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/find/list.h"
#include "vm/vm.h"

/* How often a condition held in this target. */
struct tally {
	size_t tested, held;
	const char *detail;
};

/* A few threads are as good as ten thousand. */
enum { SAMPLE = 64 };

struct subject {
	struct rcore_ruby *ruby;
	uint64_t vm;
	struct rcore_samples samples; /* the VM and its threads only */
	struct tally ractor_list, thread_list;
};

/* The verdict of the field's check in fields.def for one sample object. */
#define CHECKED(subject, base, struct_id, field) \
	rcore_check_sample(&(subject)->samples,  \
			   offsetof(struct rcore_layout, struct_id.field), base)

static void count(struct tally *tally, bool held)
{
	tally->tested++;
	tally->held += held;
}

static bool holds(enum rcore_verdict verdict)
{
	return verdict == RCORE_HOLDS;
}

/*
 * Keeps some nodes of a list; tallies whether it is closed and as long as its
 * counter says.
 */
static size_t sample_list(struct subject *subject, struct tally *tally, uint64_t head,
			  uint64_t node_offset, uint64_t expected, uint64_t *items,
			  size_t limit)
{
	uint64_t *nodes;
	size_t total;
	struct rcore_error *err =
		rcore_list(subject->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &total);
	bool failed = rcore_sample_failed(&subject->samples, err);
	count(tally, !failed && rcore_list_counts(total, expected));
	if (failed)
		tally->detail = rcore_arena_strdup(subject->ruby->arena, err->message);
	else if (!rcore_list_counts(total, expected))
		tally->detail =
			rcore_arena_printf(subject->ruby->arena,
					   "it has %zu entr%s, but its counter says %" PRIu64,
					   total, total == 1 ? "y" : "ies", expected);
	rcore_error_free(err);
	size_t kept = total < limit ? total : limit;
	for (size_t i = 0; i < kept; i++)
		items[i] = nodes[i] - node_offset;
	free(nodes);
	return kept;
}

static void sample_threads(struct subject *subject, uint64_t head, uint64_t expected)
{
	struct rcore_sample_list *threads = &subject->samples.thread;
	threads->count +=
		sample_list(subject, &subject->thread_list, head,
			    (uint64_t)subject->ruby->layout->thread.node.offset, expected,
			    threads->at + threads->count, SAMPLE - threads->count);
}

static void sample(struct subject *subject)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	uint64_t ractors[SAMPLE], expected = 0, main_thread;

	if (rcore_has(&layout->vm.ractor_set)) {
		get(&subject->samples, subject->vm, &layout->vm.ractor_count, &expected);
		size_t n = sample_list(subject, &subject->ractor_list,
				       subject->vm + (uint64_t)layout->vm.ractor_set.offset,
				       (uint64_t)layout->ractor.vmlr_node.offset, expected,
				       ractors, SAMPLE);
		for (size_t i = 0; i < n; i++) {
			expected = 0;
			get(&subject->samples, ractors[i], &layout->ractor.threads_count,
			    &expected);
			sample_threads(subject,
				       ractors[i] + (uint64_t)layout->ractor.threads_set.offset,
				       expected);
		}
	} else {
		get(&subject->samples, subject->vm, &layout->vm.living_count, &expected);
		sample_threads(subject,
			       subject->vm + (uint64_t)layout->vm.living_threads.offset,
			       expected);
	}
	if (!subject->samples.thread.count &&
	    get(&subject->samples, subject->vm, &layout->vm.main_thread, &main_thread))
		subject->samples.thread.at[subject->samples.thread.count++] = main_thread;
}

/* Returns the EC of the thread with this index, or 0. */
static uint64_t ec_of(const struct subject *subject, size_t index)
{
	uint64_t ec;
	return get(&subject->samples, subject->samples.thread.at[index],
		   &subject->ruby->layout->thread.ec, &ec)
		       ? ec
		       : 0;
}

static void prove_vm(struct subject *subject, struct tally *tally)
{
	count(tally, rcore_vm_prove(subject->ruby->memory, subject->ruby->layout, subject->vm));
}

static void prove_ractors(struct subject *subject, struct tally *tally)
{
	*tally = subject->ractor_list;
}

static void prove_threads(struct subject *subject, struct tally *tally)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	const struct rcore_sample_list *threads = &subject->samples.thread;
	*tally = subject->thread_list;
	for (size_t i = 0; i < threads->count; i++) {
		uint64_t vm, status;
		if (get(&subject->samples, threads->at[i], &layout->thread.vm, &vm))
			count(tally, holds(CHECKED(subject, threads->at[i], thread, vm)));
		if (get(&subject->samples, threads->at[i], &layout->thread.status, &status))
			count(tally, status <= RCORE_THREAD_KILLED);
	}
}

static void prove_ec(struct subject *subject, struct tally *tally)
{
	const struct rcore_sample_list *threads = &subject->samples.thread;
	for (size_t i = 0; i < threads->count; i++)
		if (ec_of(subject, i))
			count(tally, holds(CHECKED(subject, threads->at[i], thread, ec)));
}

static void prove_cfp(struct subject *subject, struct tally *tally)
{
	for (size_t i = 0; i < subject->samples.thread.count; i++) {
		uint64_t ec = ec_of(subject, i), cfp;
		if (!get(&subject->samples, ec, &subject->ruby->layout->ec.cfp, &cfp))
			continue;
		enum rcore_verdict verdict = CHECKED(subject, ec, ec, cfp);
		if (verdict != RCORE_SILENT)
			count(tally, holds(verdict));
	}
}

/* prev and resuming_fiber are fibers or NULL. */
static bool links_to_fibers(const struct subject *subject, uint64_t fiber)
{
	return CHECKED(subject, fiber, fiber, prev) != RCORE_FAILS &&
	       (!rcore_has_place(&subject->ruby->layout->fiber.resuming_fiber) ||
		CHECKED(subject, fiber, fiber, resuming_fiber) != RCORE_FAILS);
}

/*
 * A thread's root fiber runs on the thread's own machine stack, unless it was
 * another thread's before a fork (rb_fiber_atfork()). Every other fiber has a
 * stack from the pool, and keeps it until th->ec is the next fiber's. This
 * check is stricter than that of fiber.stack_base: a stack that the core lacks
 * must have bounds, too.
 */
static bool holds_stack(const struct subject *subject, uint64_t fiber, uint64_t ec,
			uint64_t root)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	uint64_t base, size, start;
	if (!rcore_has_place(&layout->fiber.stack_base))
		return true;
	if (!get(&subject->samples, fiber, &layout->fiber.stack_base, &base))
		return false;
	if (!base)
		return !root || root == fiber;
	return get(&subject->samples, fiber, &layout->fiber.stack_size, &size) &&
	       get(&subject->samples, ec, &layout->ec.machine_stack_start, &start) &&
	       within_stack(start, size, base);
}

/* Checks the thread's first fiber if the thread now runs another one. */
static bool root_waits(const struct subject *subject, uint64_t thread, uint64_t fiber,
		       uint64_t root)
{
	return !root || root == fiber ||
	       (holds(CHECKED(subject, thread, thread, root_fiber)) &&
		links_to_fibers(subject, root) &&
		rcore_fiber_can_wait(subject->ruby, root,
				     &subject->ruby->layout->fiber.status));
}

/*
 * Each thread's EC is the saved_ec of a fiber that a thread can run. If fibers
 * are on a list, the fiber's node points back. The jump buffer before these
 * fields differs between builds of one release.
 */
static void prove_fiber(struct subject *subject, struct tally *tally)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	for (size_t i = 0; i < subject->samples.thread.count; i++) {
		uint64_t thread = subject->samples.thread.at[i], ec = ec_of(subject, i);
		uint64_t fiber, root;
		if (!get(&subject->samples, ec, &layout->ec.fiber_ptr, &fiber))
			continue;
		count(tally, holds(CHECKED(subject, ec, ec, fiber_ptr)) &&
				     get(&subject->samples, thread, &layout->thread.root_fiber,
					 &root) &&
				     holds(CHECKED(subject, fiber, fiber, status)) &&
				     links_to_fibers(subject, fiber) &&
				     holds_stack(subject, fiber, ec, root) &&
				     root_waits(subject, thread, fiber, root) &&
				     CHECKED(subject, fiber, fiber, jit_cont) != RCORE_FAILS);
	}
}

/*
 * Whether the frame at `cfp` is that of Ruby code that has begun; *ret says
 * whether its pc is in its iseq.
 */
static bool test_pc(struct subject *subject, uint64_t cfp, bool *ret)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	const struct rcore_iseq_info *info;
	uint64_t iseq, pc, ep, flags;
	if (!get(&subject->samples, cfp, &layout->cfp.iseq, &iseq) || !iseq ||
	    !get(&subject->samples, cfp, &layout->cfp.pc, &pc) || !pc ||
	    !get(&subject->samples, cfp, &layout->cfp.ep, &ep) ||
	    rcore_read_u64(subject->ruby->memory, ep, &flags) ||
	    (flags & RCORE_FRAME_MAGIC_MASK) == RCORE_FRAME_MAGIC_DUMMY)
		return false;
	rcore_auto_error err = rcore_iseq(subject->ruby, iseq, &info);
	*ret = !rcore_sample_failed(&subject->samples, err) &&
	       holds(CHECKED(subject, cfp, cfp, pc));
	return true;
}

/*
 * Checks that the pc of the innermost Ruby frames is in their iseq's code. The
 * very innermost frame can only confirm the layout. Compiled code pushes a
 * frame without a pc, so that the place keeps the pc of a previous frame, and
 * writes it before it calls anything (YJIT's gen_push_frame() and
 * jit_save_pc(), ZJIT's gen_prepare_non_leaf_call()). Up to 2.7,
 * vm_push_frame() counts a frame before it fills it.
 */
static void prove_iseq(struct subject *subject, struct tally *tally)
{
	enum { FRAMES = 8 };
	const struct rcore_layout *layout = subject->ruby->layout;
	for (size_t i = 0; i < subject->samples.thread.count; i++) {
		uint64_t ec = ec_of(subject, i), cfp, stack, size;
		if (!get(&subject->samples, ec, &layout->ec.cfp, &cfp) || !cfp ||
		    !get(&subject->samples, ec, &layout->ec.vm_stack, &stack) ||
		    !get(&subject->samples, ec, &layout->ec.vm_stack_size, &size))
			continue;
		uint64_t end = stack + size * sizeof(uint64_t);
		for (int j = 0; j < FRAMES && cfp < end; j++, cfp += layout->cfp.size) {
			bool held;
			if (!test_pc(subject, cfp, &held) || (!j && !held))
				continue;
			count(tally, held);
			break;
		}
	}
}

static void prove_symbols(struct subject *subject, struct tally *tally)
{
	count(tally, subject->ruby->global_symbols != 0);
	if (!subject->ruby->global_symbols)
		tally->detail = "not found: methods written in C have no names";
}

static void prove_heap(struct subject *subject, struct tally *tally)
{
	uint64_t objspace;
	if (!get(&subject->samples, subject->vm, &subject->ruby->layout->vm.objspace,
		 &objspace))
		return;
	struct rcore_error *err =
		rcore_heap_prove(subject->ruby, objspace, &tally->tested, &tally->held);
	if (!rcore_sample_failed(&subject->samples, err))
		return;
	count(tally, false);
	tally->detail = rcore_arena_strdup(subject->ruby->arena, err->message);
	rcore_error_free(err);
}

static const struct {
	const char *name, *text;
	void (*prove)(struct subject *, struct tally *);
	bool is_apart;
} table[] = {
	{"vm", "the main thread, its VM, its EC and its ractor point to each other", prove_vm,
	 false},
	{"ractor", "the ractor list is closed and as long as the VM's counter says",
	 prove_ractors, false},
	{"thread",
	 "thread lists are closed, as long as their counters say, and each thread points to "
	 "the VM",
	 prove_threads, false},
	{"ec", "each thread's EC points back to it", prove_ec, false},
	{"cfp", "control frames are inside the VM stack, a whole number of them", prove_cfp,
	 false},
	{"fiber",
	 "each current fiber contains its EC, can run in its state, and points to fibers",
	 prove_fiber, false},
	{"iseq", "the pc of innermost Ruby frames is in their iseq's code", prove_iseq, false},
	{"symbols", "the symbol table has the names that every Ruby begins with", prove_symbols,
	 true},
	{"heap", "pages of the object heap point back, up to the last", prove_heap, true},
};

_Static_assert(RCORE_COUNT(table) <= RCORE_PROOF_LIMIT, "proofs fit");

size_t rcore_prove(struct rcore_ruby *ruby, uint64_t vm,
		   struct rcore_proof proofs[RCORE_PROOF_LIMIT], size_t *ret_count)
{
	struct subject subject = {
		.ruby = ruby,
		.vm = vm,
		.samples = {.ruby = ruby, .vm = {.at = {vm}, .count = 1}},
	};
	size_t passed = 0;

	sample(&subject);
	for (size_t i = 0; i < RCORE_COUNT(table); i++) {
		struct tally tally = {0};
		table[i].prove(&subject, &tally);
		/*
		 * One corrupt thread among many does not make the layout wrong.
		 */
		proofs[i] = (struct rcore_proof){
			.name = table[i].name,
			.text = table[i].text,
			.passed = tally.held * 2 >= tally.tested,
			.missed = tally.tested - tally.held,
			.is_apart = table[i].is_apart,
			.detail = tally.detail,
		};
		if (!tally.tested)
			proofs[i].detail = "this target has nothing to test it on";
		else if (!proofs[i].detail && tally.held < tally.tested)
			proofs[i].detail = rcore_arena_printf(ruby->arena, "%zu of %zu held",
							      tally.held, tally.tested);
		passed += proofs[i].passed;
	}
	*ret_count = RCORE_COUNT(table);
	return passed;
}
