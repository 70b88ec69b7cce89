/* SPDX-License-Identifier: MIT */
#include "ruby/object/class_ivar.h"

#include <stdlib.h>

#include "ruby/symbol/id.h"
#include "ruby/object/ivar.h"

enum {
	IVAR_LIMIT = 1 << 16,
};

static const char *const names[RCORE_CLASS_IVAR_COUNT] = {
	[RCORE_CLASSPATH] = "__classpath__",
	[RCORE_TMP_CLASSPATH] = "__tmp_classpath__",
	[RCORE_ATTACHED] = "__attached__",
};

/*
 * Which of them an ID names, -1: none. They get their IDs when the process
 * starts, so each is known by its name once and by its number from then on.
 */
static struct rcore_error *which(struct rcore_ruby *ruby, uint64_t id, int *ret)
{
	*ret = -1;
	for (int i = 0; i < RCORE_CLASS_IVAR_COUNT; i++)
		if (ruby->class_name_ids[i] == id) {
			*ret = i;
			return NULL;
		}
	for (int i = 0; i < RCORE_CLASS_IVAR_COUNT; i++) {
		bool same;
		if (ruby->class_name_ids[i])
			continue;
		struct rcore_error *err = rcore_id_is(ruby, id, names[i], &same);
		if (err)
			return err;
		if (same) {
			ruby->class_name_ids[i] = id;
			*ret = i;
			return NULL;
		}
	}
	return NULL;
}

struct rcore_error *rcore_class_ivars(struct rcore_ruby *ruby, uint64_t klass,
				      uint64_t ret[RCORE_CLASS_IVAR_COUNT])
{
	struct rcore_ivars ivars;
	for (int i = 0; i < RCORE_CLASS_IVAR_COUNT; i++)
		ret[i] = 0;
	if (!ruby->global_symbols)
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "the symbol table (global_symbols) was not found");
	struct rcore_error *err = rcore_ivars(ruby, klass, IVAR_LIMIT, &ivars);
	for (size_t j = 0; j < ivars.count && !err; j++) {
		int i;
		err = which(ruby, ivars.items[j].id, &i);
		if (!err && i >= 0)
			ret[i] = ivars.items[j].value;
	}
	free(ivars.items);
	return err;
}
