/* SPDX-License-Identifier: MIT */
/* Locks, queues and their waiters. */
#include "proof/check.h"
#include "ruby/object/data.h"

CHECK(mutex_thread)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (!value)
		return RCORE_SILENT;
	return verdict_of(is_thread(s, value) || is_object(s, value, TYPE(DATA)));
}

CHECK(waiting_ec)
{
	uint64_t ec;
	return get(s, base, field, &ec)
		       ? rcore_check_waiting_thread(s, ec, &layout_of(s)->ec.thread_ptr)
		       : RCORE_FAILS;
}

/*
 * A node of a list: its neighbours point to it. Only one of them does while the
 * node is being added or removed (list_change.h), and list_del() does not
 * change the node's own words.
 */
CHECK(a_node)
{
	uint64_t node = member(base, field), words[2], next, prev;
	if (rcore_read(s->ruby->memory, node, words, sizeof(words)))
		return RCORE_FAILS;
	if (is_lost(s, words[0]) || is_lost(s, words[1]))
		return RCORE_SILENT;
	bool follows = word_at(s, words[1], &next) && next == node;
	bool leads = word_at(s, words[0] + sizeof(next), &prev) && prev == node;
	return follows && leads ? RCORE_HOLDS : follows || leads ? RCORE_SILENT : RCORE_FAILS;
}

CHECK(waiting_fd_number)
{
	enum { FD_LIMIT = 1 << 20 };
	uint64_t fd;
	return verdict_of(get(s, base, field, &fd) && fd < FD_LIMIT &&
			  rcore_check_waiting_thread(s, base, &layout_of(s)->waiting_fd.th) ==
				  RCORE_HOLDS);
}

/*
 * At least as many wait as there are nodes on the list. A thread that wakes a
 * waiter removes its node (sync_wakeup() of thread_sync.c), and the waiter
 * decrements the counter when it runs (queue_sleep_done()). A thread that
 * begins to wait adds its node before it increments the counter.
 */
static enum rcore_verdict waiters_count(const struct rcore_samples *s, uint64_t base,
					const struct rcore_field *field,
					const struct rcore_field *list)
{
	uint64_t counted;
	size_t listed;
	if (!get(s, base, field, &counted))
		return RCORE_FAILS;
	enum rcore_verdict verdict = list_closes(s, member(base, list), &listed);
	if (verdict != RCORE_HOLDS)
		return verdict;
	if (counted == listed)
		return listed ? RCORE_HOLDS : RCORE_SILENT;
	return counted + 1 < listed || counted > RCORE_THREAD_LIMIT ? RCORE_FAILS
								    : RCORE_SILENT;
}

CHECK(queue_waiting)
{
	return waiters_count(s, base, field, &layout_of(s)->queue.waitq);
}

CHECK(queue_waiting_push)
{
	return waiters_count(s, base, field, &layout_of(s)->szqueue.pushq);
}

CHECK(queue_max)
{
	uint64_t max;
	return verdict_of(get(s, base, field, &max) && max && max < UINT64_C(1) << 40);
}

static bool wraps_a(const struct rcore_samples *s, uint64_t value, const char *type_name)
{
	bool is_so = false;
	if (!is_object(s, value, TYPE(DATA)))
		return false;
	rcore_auto_error err = rcore_data_is(s->ruby, value, type_name, &is_so, NULL);
	return !rcore_sample_failed(s, err) && is_so;
}

/* For a locked Monitor: its owner and how often the owner has locked it. */
CHECK(monitor_held)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t count, owner;
	if (!get(s, base, &layout->monitor.count, &count) ||
	    !get(s, base, &layout->monitor.owner, &owner))
		return RCORE_FAILS;
	if (!count)
		return rcore_is_nil(s->ruby, owner) ? RCORE_SILENT : RCORE_FAILS;
	return verdict_of(count <= UINT32_MAX &&
			  (wraps_a(s, owner, "VM/thread") || wraps_a(s, owner, "fiber")));
}

CHECK(monitor_mutex)
{
	uint64_t mutex;
	return verdict_of(get(s, base, field, &mutex) && wraps_a(s, mutex, "mutex"));
}
