/* SPDX-License-Identifier: MIT */
#include "proof/prove.h"

#include <inttypes.h>
#include <stdlib.h>

#include "proof/fiber_state.h"
#include "ruby/heap.h"
#include "ruby/id.h"
#include "ruby/iseq.h"
#include "vm/fiber_link.h"
#include "vm/find.h"
#include "vm/frame_flags.h"
#include "vm/list.h"
#include "vm/vm.h"

/* How often a condition held in this target. */
struct tally {
	size_t tested, held;
	const char *detail;
};

/* A few threads prove a layout as well as ten thousand. */
enum { SAMPLE = 64 };

struct subject {
	struct rcore_ruby *ruby;
	uint64_t vm;
	uint64_t threads[SAMPLE];
	size_t thread_count;
	struct tally ractor_list, thread_list;
};

static bool get(const struct subject *subject, uint64_t base, const struct rcore_field *field,
		uint64_t *ret)
{
	return base && rcore_has(field) &&
	       !rcore_read_field(subject->ruby->memory, base, field, ret);
}

static void count(struct tally *tally, bool held)
{
	tally->tested++;
	tally->held += held;
}

/* Keeps what a list says, and whether it closes and is as long as its counter says. */
static size_t sample_list(struct subject *subject, struct tally *tally, uint64_t head,
			  uint64_t node_offset, uint64_t expected, uint64_t *items,
			  size_t limit)
{
	uint64_t *nodes;
	size_t total;
	struct rcore_error *err =
		rcore_list(subject->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &total);
	count(tally, !err && rcore_list_counts(total, expected));
	if (err)
		tally->detail = rcore_arena_strdup(subject->ruby->arena, err->message);
	else if (!rcore_list_counts(total, expected))
		tally->detail =
			rcore_arena_printf(subject->ruby->arena,
					   "%zu entries, counted as %" PRIu64, total, expected);
	rcore_error_free(err);
	size_t kept = total < limit ? total : limit;
	for (size_t i = 0; i < kept; i++)
		items[i] = nodes[i] - node_offset;
	free(nodes);
	return kept;
}

static void sample_threads(struct subject *subject, uint64_t head, uint64_t expected)
{
	subject->thread_count += sample_list(
		subject, &subject->thread_list, head,
		(uint64_t)subject->ruby->layout->thread.node.offset, expected,
		subject->threads + subject->thread_count, SAMPLE - subject->thread_count);
}

static void sample(struct subject *subject)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	uint64_t ractors[SAMPLE], expected = 0, main_thread;

	if (rcore_has(&layout->vm.ractor_set)) {
		get(subject, subject->vm, &layout->vm.ractor_count, &expected);
		size_t n = sample_list(subject, &subject->ractor_list,
				       subject->vm + (uint64_t)layout->vm.ractor_set.offset,
				       (uint64_t)layout->ractor.vmlr_node.offset, expected,
				       ractors, SAMPLE);
		for (size_t i = 0; i < n; i++) {
			expected = 0;
			get(subject, ractors[i], &layout->ractor.threads_count, &expected);
			sample_threads(subject,
				       ractors[i] + (uint64_t)layout->ractor.threads_set.offset,
				       expected);
		}
	} else {
		get(subject, subject->vm, &layout->vm.living_count, &expected);
		sample_threads(subject,
			       subject->vm + (uint64_t)layout->vm.living_threads.offset,
			       expected);
	}
	if (!subject->thread_count &&
	    get(subject, subject->vm, &layout->vm.main_thread, &main_thread))
		subject->threads[subject->thread_count++] = main_thread;
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
	*tally = subject->thread_list;
	for (size_t i = 0; i < subject->thread_count; i++) {
		uint64_t vm, status;
		if (get(subject, subject->threads[i], &layout->thread.vm, &vm))
			count(tally, vm == subject->vm);
		if (get(subject, subject->threads[i], &layout->thread.status, &status))
			count(tally, status <= RCORE_THREAD_KILLED);
	}
}

static void prove_ec(struct subject *subject, struct tally *tally)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	for (size_t i = 0; i < subject->thread_count; i++) {
		uint64_t ec, thread;
		if (get(subject, subject->threads[i], &layout->thread.ec, &ec) && ec)
			count(tally, get(subject, ec, &layout->ec.thread_ptr, &thread) &&
					     thread == subject->threads[i]);
	}
}

static void prove_cfp(struct subject *subject, struct tally *tally)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	for (size_t i = 0; i < subject->thread_count; i++) {
		uint64_t ec, stack, size, cfp;
		if (!get(subject, subject->threads[i], &layout->thread.ec, &ec) ||
		    !get(subject, ec, &layout->ec.vm_stack, &stack) ||
		    !get(subject, ec, &layout->ec.vm_stack_size, &size) ||
		    !get(subject, ec, &layout->ec.cfp, &cfp) || !stack || !cfp)
			continue; /* rb_ec_set_vm_stack() comes before the first frame */
		uint64_t end = stack + size * sizeof(uint64_t);
		count(tally, stack < cfp && cfp <= end && (end - cfp) % layout->cfp.size == 0);
	}
}

/* NULL, or a fiber, whose EC knows it. */
static bool is_fiber_or_null(const struct subject *subject, uint64_t other)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	uint64_t back;
	return !other || (get(subject, other + (uint64_t)layout->fiber.saved_ec.offset,
			      &layout->ec.fiber_ptr, &back) &&
			  back == other);
}

static bool links_to_fibers(const struct subject *subject, uint64_t fiber)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	uint64_t prev, resuming;
	return get(subject, fiber, &layout->fiber.prev, &prev) &&
	       is_fiber_or_null(subject, prev) &&
	       (!rcore_has_place(&layout->fiber.resuming_fiber) ||
		(!rcore_fiber_resuming(subject->ruby, fiber, &resuming) &&
		 is_fiber_or_null(subject, resuming)));
}

/* The thread's root fiber runs on the thread's own machine stack, unless it was another's before a
 * fork (rb_fiber_atfork()); each other has one from the pool, and keeps it until the fiber that goes
 * on after it has th->ec. */
static bool holds_stack(const struct subject *subject, uint64_t fiber, uint64_t ec,
			uint64_t root)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	uint64_t base, size, start;
	if (!rcore_has_place(&layout->fiber.stack_base))
		return true;
	if (!get(subject, fiber, &layout->fiber.stack_base, &base))
		return false;
	if (!base)
		return !root || root == fiber;
	return get(subject, fiber, &layout->fiber.stack_size, &size) &&
	       get(subject, ec, &layout->ec.machine_stack_start, &start) && start > base &&
	       start - base <= size;
}

/* The one that it began with, if it runs another now. */
static bool root_waits(const struct subject *subject, uint64_t fiber, uint64_t root)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	return !root || root == fiber ||
	       (is_fiber_or_null(subject, root) && links_to_fibers(subject, root) &&
		rcore_fiber_can_wait(subject->ruby, root, &layout->fiber.status));
}

static bool on_list(const struct subject *subject, uint64_t fiber, uint64_t ec)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	uint64_t node, back;
	return !layout->traits.fibers_listed ||
	       (get(subject, fiber, &layout->fiber.jit_cont, &node) &&
		get(subject, node, &layout->jit_cont.ec, &back) && back == ec);
}

/* The EC of each thread is the saved_ec of a fiber that a thread can run; where fibers are on a list, its
 * node leads back. The jump buffer before these fields differs between builds of one release. */
static void prove_fiber(struct subject *subject, struct tally *tally)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	for (size_t i = 0; i < subject->thread_count; i++) {
		uint64_t ec, fiber, root;
		if (!get(subject, subject->threads[i], &layout->thread.ec, &ec) || !ec ||
		    !get(subject, ec, &layout->ec.fiber_ptr, &fiber))
			continue;
		count(tally, fiber + (uint64_t)layout->fiber.saved_ec.offset == ec &&
				     get(subject, subject->threads[i],
					 &layout->thread.root_fiber, &root) &&
				     rcore_fiber_can_run(subject->ruby, fiber,
							 &layout->fiber.status) &&
				     links_to_fibers(subject, fiber) &&
				     holds_stack(subject, fiber, ec, root) &&
				     root_waits(subject, fiber, root) &&
				     on_list(subject, fiber, ec));
	}
}

/* Whether the frame at `cfp` is one of Ruby code that has begun: *ret, its pc lies in its iseq. */
static bool test_pc(struct subject *subject, uint64_t cfp, bool *ret)
{
	const struct rcore_layout *layout = subject->ruby->layout;
	const struct rcore_iseq_info *info;
	uint64_t iseq, pc, ep, flags;
	if (!get(subject, cfp, &layout->cfp.iseq, &iseq) || !iseq ||
	    !get(subject, cfp, &layout->cfp.pc, &pc) || !pc ||
	    !get(subject, cfp, &layout->cfp.ep, &ep) ||
	    rcore_read_u64(subject->ruby->memory, ep, &flags) ||
	    (flags & RCORE_FRAME_MAGIC_MASK) == RCORE_FRAME_MAGIC_DUMMY)
		return false;
	rcore_auto_error err = rcore_iseq(subject->ruby, iseq, &info);
	*ret = !err && pc >= info->encoded &&
	       pc <= info->encoded + info->size * sizeof(uint64_t);
	return true;
}

/*
 * The innermost frames that have an iseq and a pc: the pc lies in the iseq's code. The very innermost speaks
 * only for the layout: compiled code pushes frames without a pc, which is then the one of who had the
 * place before, and writes it before it calls anything (YJIT's gen_push_frame() and jit_save_pc(),
 * ZJIT's gen_prepare_non_leaf_call()); vm_push_frame() up to 2.7 counts a frame before it fills it.
 */
static void prove_iseq(struct subject *subject, struct tally *tally)
{
	enum { FRAMES = 8 };
	const struct rcore_layout *layout = subject->ruby->layout;
	for (size_t i = 0; i < subject->thread_count; i++) {
		uint64_t ec, cfp, stack, size;
		if (!get(subject, subject->threads[i], &layout->thread.ec, &ec) ||
		    !get(subject, ec, &layout->ec.cfp, &cfp) || !cfp ||
		    !get(subject, ec, &layout->ec.vm_stack, &stack) ||
		    !get(subject, ec, &layout->ec.vm_stack_size, &size))
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
	if (!get(subject, subject->vm, &subject->ruby->layout->vm.objspace, &objspace))
		return;
	struct rcore_error *err =
		rcore_heap_prove(subject->ruby, objspace, &tally->tested, &tally->held);
	if (!err)
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
	{"vm", "the main thread, its VM, its EC and its ractor point at each other", prove_vm,
	 false},
	{"ractor", "the ractor list closes and has as many as the VM counts", prove_ractors,
	 false},
	{"thread", "thread lists close, count right, and each thread points to the VM",
	 prove_threads, false},
	{"ec", "each thread's EC points back to it", prove_ec, false},
	{"cfp", "control frames lie inside the VM stack, a whole number of them", prove_cfp,
	 false},
	{"fiber", "each running fiber holds its EC, is in a state to run, and links to fibers",
	 prove_fiber, false},
	{"iseq", "the pc of innermost Ruby frames lies in their iseq's code", prove_iseq,
	 false},
	{"symbols", "the symbol table has the names that every Ruby starts with", prove_symbols,
	 true},
	{"heap", "pages of the object heap point back, up to the last", prove_heap, true},
};

_Static_assert(sizeof(table) / sizeof(*table) <= RCORE_PROOF_LIMIT, "proofs fit");

size_t rcore_prove(struct rcore_ruby *ruby, uint64_t vm,
		   struct rcore_proof proofs[RCORE_PROOF_LIMIT], size_t *ret_count)
{
	struct subject subject = {.ruby = ruby, .vm = vm};
	size_t passed = 0;

	sample(&subject);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct tally tally = {0};
		table[i].prove(&subject, &tally);
		/* One corrupt thread among many does not make the layout wrong. */
		proofs[i] = (struct rcore_proof){
			.name = table[i].name,
			.text = table[i].text,
			.passed = tally.held * 2 >= tally.tested,
			.missed = tally.tested - tally.held,
			.is_apart = table[i].is_apart,
			.detail = tally.detail,
		};
		if (!tally.tested)
			proofs[i].detail = "nothing in this target to test it on";
		else if (!proofs[i].detail && tally.held < tally.tested)
			proofs[i].detail = rcore_arena_printf(ruby->arena, "%zu of %zu held",
							      tally.held, tally.tested);
		passed += proofs[i].passed;
	}
	*ret_count = sizeof(table) / sizeof(*table);
	return passed;
}
