/* SPDX-License-Identifier: MIT */
#include "profile/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

void rcore_group_cache_deinit(struct rcore_group_cache *cache)
{
	rcore_record_set_deinit(&cache->pairs);
	free(cache->nodes);
	free(cache->processes.items);
	free(cache->frames);
	*cache = (struct rcore_group_cache){0};
}

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "(unknown)";
}

static const char *find_label(const struct rcore_profile *profile, uint32_t set,
			      const char *key, size_t length)
{
	size_t count;
	const struct rcore_profile_label *labels =
		rcore_profile_label_set(profile, set, &count);
	for (size_t i = 0; i < count; i++) {
		const char *found = rcore_profile_text(profile, labels[i].key);
		if (strlen(found) == length && strncmp(found, key, length) == 0)
			return rcore_profile_text(profile, labels[i].value);
	}
	return NULL;
}

/* Without its title, which may still change. */
static void name_process(const struct rcore_profile *profile, uint32_t number, char *ret)
{
	const struct rcore_profile_thread *thread = rcore_profile_thread_at(profile, number);
	const struct rcore_profile_process process = {
		.pid = thread->pid,
		.use = rcore_profile_process_at(profile, thread->process)->use,
	};
	rcore_profile_process_id(&process, ret);
}

static void name_thread(const struct rcore_profile *profile, uint32_t number, char *ret)
{
	const struct rcore_profile_thread *thread = rcore_profile_thread_at(profile, number);
	const char *name = rcore_profile_text(profile, thread->name);
	const char *id = or_unknown(rcore_profile_text(profile, thread->id));
	/* With several processes, each has its own T1. */
	char process[32] = "";
	if (thread->pid)
		snprintf(process, sizeof(process), "%u ", thread->pid);
	rcore_format(ret, RCORE_GROUP_NAME, name[0] ? "%s%s %s" : "%s%s", process, id, name);
}

static void name_fiber(const struct rcore_profile *profile, const struct rcore_total_key *key,
		       char *ret)
{
	const struct rcore_profile_fiber *fiber = rcore_profile_fiber_at(profile, key->fiber);
	if (key->fiber)
		rcore_format(ret, RCORE_GROUP_NAME, "%s",
			     or_unknown(rcore_profile_text(profile, fiber->id)));
	else
		name_thread(profile, key->thread, ret);
}

static void name_state(const struct rcore_profile *profile, uint32_t number, char *ret)
{
	const struct rcore_profile_state *state = rcore_profile_state_at(profile, number);
	const char *wait = rcore_profile_text(profile, state->wait);
	rcore_format(ret, RCORE_GROUP_NAME, wait[0] ? "%s (%s)" : "%s",
		     rcore_sample_state_name(state->kind), wait);
}

void rcore_group_unlabelled(const char *label, char ret[RCORE_GROUP_NAME])
{
	rcore_format(ret, RCORE_GROUP_NAME, "(no %s)", label);
}

static void name_group(const struct rcore_profile *profile, enum rcore_by by, const char *label,
		       const struct rcore_total_key *key, char *ret)
{
	const char *value;
	switch (by) {
	case RCORE_BY_PROCESS:
		name_process(profile, key->thread, ret);
		break;
	case RCORE_BY_THREAD:
		name_thread(profile, key->thread, ret);
		break;
	case RCORE_BY_FIBER:
		name_fiber(profile, key, ret);
		break;
	case RCORE_BY_STATE:
		name_state(profile, key->state, ret);
		break;
	case RCORE_BY_LABEL:
		value = find_label(profile, key->labels, label, strlen(label));
		if (value)
			rcore_format(ret, RCORE_GROUP_NAME, "%s=%s", label, value);
		else
			rcore_group_unlabelled(label, ret);
		break;
	case RCORE_BY_NOTHING:
		ret[0] = '\0';
		break;
	}
}

/* Copies the stack of `node` onto `root`. */
static uint32_t move_stack(struct rcore_profile *profile, struct rcore_group_cache *cache,
			   uint32_t node, uint32_t root)
{
	size_t depth = 0;
	for (; node; node = rcore_profile_node_at(profile, node)->parent) {
		if (!rcore_grow((void **)&cache->frames, depth, &cache->frame_capacity,
				sizeof(*cache->frames))) {
			cache->no_memory = true;
			return 0;
		}
		cache->frames[depth++] = rcore_profile_node_at(profile, node)->frame;
	}
	while (depth)
		root = rcore_profile_node(profile, root, cache->frames[--depth]);
	return root;
}

static bool keep_process(const struct rcore_profile *profile, struct rcore_group_cache *cache,
			 uint32_t function, uint32_t thread)
{
	uint32_t number = rcore_profile_thread_at(profile, thread)->process;
	for (size_t i = 0; i < cache->processes.count; i++)
		if (cache->processes.items[i].function == function)
			return true;
	struct rcore_group_process *process = rcore_push(&cache->processes);
	if (process)
		*process = (struct rcore_group_process){function, number};
	return process;
}

void rcore_group_name_processes(struct rcore_profile *profile,
				const struct rcore_group_cache *cache)
{
	struct rcore_profile_function *functions = profile->functions.items;
	for (size_t i = 0; i < cache->processes.count; i++) {
		const struct rcore_group_process *process = &cache->processes.items[i];
		uint32_t title = rcore_profile_title(profile, process->process);
		uint32_t *label = &functions[process->function].label;
		char name[RCORE_GROUP_NAME];
		if (!title)
			continue;
		rcore_format(name, sizeof(name), "%s %s", rcore_profile_text(profile, *label),
			     rcore_profile_text(profile, title));
		*label = rcore_profile_string(profile, name);
	}
}

uint32_t rcore_group_node(struct rcore_profile *profile, struct rcore_group_cache *cache,
			  enum rcore_by by, const char *label,
			  const struct rcore_total_key *key)
{
	char name[RCORE_GROUP_NAME] = "";
	uint32_t number;
	if (by == RCORE_BY_NOTHING)
		return key->node;
	name_group(profile, by, label, key, name);
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NOTE,
		.label = rcore_profile_string(profile, name),
	};
	uint32_t group = rcore_profile_function(profile, &function);
	uint32_t frame = rcore_profile_frame(profile, group, 0);
	if (by == RCORE_BY_PROCESS && !keep_process(profile, cache, group, key->thread)) {
		cache->no_memory = true;
		return 0;
	}
	const uint32_t pair[] = {frame, key->node};
	size_t known = cache->pairs.count;
	cache->pairs.record_size = sizeof(pair);
	if (!rcore_grow((void **)&cache->nodes, known, &cache->capacity,
			sizeof(*cache->nodes)) ||
	    !rcore_record_set_add(&cache->pairs, pair, &number)) {
		cache->no_memory = true;
		return 0;
	}
	if (number == known)
		cache->nodes[number] = move_stack(profile, cache, key->node,
						  rcore_profile_node(profile, 0, frame));
	return cache->nodes[number];
}

static bool matches(const struct rcore_profile *profile, uint32_t labels, const char *condition)
{
	const char *equals = strchr(condition, '=');
	const char *value =
		find_label(profile, labels, condition,
			   equals ? (size_t)(equals - condition) : strlen(condition));
	return value && (!equals || strcmp(value, equals + 1) == 0);
}

bool rcore_labels_match(const struct rcore_profile *profile, uint32_t labels,
			const char *const *conditions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!matches(profile, labels, conditions[i]))
			return false;
	return true;
}
