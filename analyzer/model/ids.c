/* SPDX-License-Identifier: MIT */
#include "model/ids_number.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM          1
#define uthash_nonfatal_oom(entry) ((entry)->lost = true)
#include <uthash.h>

enum { SCOPE_SIZE = 24 };

struct seen {
	struct {
		char scope[SCOPE_SIZE];
		uint64_t address;
	} key;
	uint64_t object;
	int age;
	size_t number;
	bool lost;
	UT_hash_handle hh;
};

struct scope {
	char name[SCOPE_SIZE];
	size_t last;
	bool lost;
	UT_hash_handle hh;
};

struct rcore_ids {
	struct seen *seen;
	struct scope *scopes;
};

struct rcore_ids *rcore_ids_open(void)
{
	return calloc(1, sizeof(struct rcore_ids));
}

void rcore_ids_close(struct rcore_ids *ids)
{
	struct seen *seen, *next_seen;
	struct scope *scope, *next_scope;
	if (!ids)
		return;
	HASH_ITER (hh, ids->seen, seen, next_seen) {
		HASH_DEL(ids->seen, seen);
		free(seen);
	}
	HASH_ITER (hh, ids->scopes, scope, next_scope) {
		HASH_DEL(ids->scopes, scope);
		free(scope);
	}
	free(ids);
}

static struct scope *find_scope(struct rcore_ids *ids, const char *name)
{
	struct scope *scope, key = {0};
	strncpy(key.name, name, sizeof(key.name) - 1);
	HASH_FIND(hh, ids->scopes, key.name, sizeof(key.name), scope);
	if (scope)
		return scope;
	scope = malloc(sizeof(*scope));
	if (!scope)
		return NULL;
	*scope = key;
	HASH_ADD(hh, ids->scopes, name, sizeof(scope->name), scope);
	if (!scope->lost)
		return scope;
	free(scope);
	return NULL;
}

static struct seen *find_seen(struct rcore_ids *ids, const struct rcore_who *who)
{
	struct seen *seen, key = {.key.address = who->address};
	strncpy(key.key.scope, who->scope, sizeof(key.key.scope) - 1);
	HASH_FIND(hh, ids->seen, &key.key, sizeof(key.key), seen);
	if (seen)
		return seen;
	seen = malloc(sizeof(*seen));
	if (!seen)
		return NULL;
	*seen = key;
	HASH_ADD(hh, ids->seen, key, sizeof(seen->key), seen);
	if (!seen->lost)
		return seen;
	free(seen);
	return NULL;
}

bool rcore_ids_number(struct rcore_ids *ids, const struct rcore_who *who, size_t *ret)
{
	struct seen *seen = find_seen(ids, who);
	struct scope *scope = find_scope(ids, who->scope);
	if (!seen || !scope)
		return false;
	bool is_other = seen->object && who->object && seen->object != who->object;
	if (!seen->number || is_other || who->age < seen->age)
		seen->number = ++scope->last;
	if (who->object || is_other)
		seen->object = who->object;
	seen->age = who->age;
	*ret = seen->number;
	return true;
}
