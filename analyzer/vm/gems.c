/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "image/symbolize/symbolize_gem.h"
#include "ruby/object/array.h"
#include "ruby/object/box.h"
#include "ruby/get.h"
#include "ruby/object/hash.h"
#include "ruby/object/ivar.h"
#include "ruby/object/string.h"
#include "vm/facts.h"

enum { GEM_LIMIT = 5000, FEATURE_LIMIT = 200000 };

struct gems {
	struct rcore_ruby *ruby;
	struct {
		struct rcore_gem *items;
		size_t count, capacity;
	} found;
};

static bool is_version(const char *text, size_t length)
{
	if (!length || !isdigit((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '.')
			return false;
	return true;
}

/*
 * A gem's folder is NAME-VERSION or NAME-VERSION-PLATFORM, and names may
 * contain dashes.
 */
static bool split(const char *folder, size_t length, size_t *name_length, size_t *version,
		  size_t *version_length)
{
	for (size_t end = length, i = length; i-- > 1;) {
		if (folder[i] != '-')
			continue;
		if (is_version(folder + i + 1, end - i - 1)) {
			*name_length = i;
			*version = i + 1;
			*version_length = end - i - 1;
			return true;
		}
		end = i;
	}
	return false;
}

static bool is_known(const struct gems *gems, const char *name, size_t length)
{
	for (size_t i = 0; i < gems->found.count; i++) {
		const char *known = gems->found.items[i].name;
		if (!strncmp(known, name, length) && !known[length])
			return true;
	}
	return false;
}

static struct rcore_error *add(struct gems *gems, const char *name, size_t name_length,
			       const char *version, size_t version_length)
{
	if (is_known(gems, name, name_length))
		return NULL;
	if (gems->found.count == GEM_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT, "there are more than %d",
					  GEM_LIMIT);
	struct rcore_gem *gem = rcore_push(&gems->found);
	if (!gem)
		return rcore_error_no_memory();
	gem->name = rcore_arena_strndup(gems->ruby->arena, name, name_length);
	gem->version = rcore_arena_strndup(gems->ruby->arena, version, version_length);
	if (gem->name && gem->version)
		return NULL;
	gems->found.count--;
	return rcore_error_no_memory();
}

static struct rcore_error *ivar_string(struct rcore_ruby *ruby, uint64_t object,
				       const char *name, const char **ret)
{
	uint64_t value;
	bool found;
	struct rcore_error *err = rcore_ivar_get(ruby, object, name, &found, &value);
	if (!err && !found)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "a Gem object has no %s", name);
	return err ? err : rcore_string(ruby, value, ret, NULL);
}

/*
 * A Gem::Specification has @name and @version, a Gem::Version with a String in
 * its own @version.
 */
static struct rcore_error *add_specification(struct gems *gems, uint64_t specification)
{
	const char *name, *text;
	uint64_t version;
	bool found;
	struct rcore_error *err = ivar_string(gems->ruby, specification, "@name", &name);
	if (!err)
		err = rcore_ivar_get(gems->ruby, specification, "@version", &found, &version);
	if (!err && !found)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "gem %s has no version", name);
	if (!err)
		err = ivar_string(gems->ruby, version, "@version", &text);
	return err ? err : add(gems, name, strlen(name), text, strlen(text));
}

static struct rcore_error *read_specifications(struct gems *gems, uint64_t gem)
{
	struct rcore_hash_iterator iterator;
	uint64_t hash, key, value;
	bool found;
	struct rcore_error *err =
		rcore_ivar_get(gems->ruby, gem, "@loaded_specs", &found, &hash);
	if (err || !found || rcore_is_nil(gems->ruby, hash))
		return err;
	err = rcore_hash_begin(&iterator, gems->ruby, hash);
	while (!err && !(err = rcore_hash_next(&iterator, &found, &key, &value)) && found)
		err = add_specification(gems, value);
	return err;
}

static struct rcore_error *read_features(struct gems *gems, uint64_t features)
{
	struct rcore_ruby *ruby = gems->ruby;
	uint64_t elements, count;
	struct rcore_error *err = rcore_array(ruby, features, &elements, &count);
	if (!err && count > FEATURE_LIMIT)
		count = FEATURE_LIMIT;
	for (uint64_t i = 0; !err && i < count; i++) {
		uint64_t value, bytes, length;
		const char *name;
		size_t full, name_length, version, version_length;
		char path[4096];
		if (rcore_read_u64(ruby->memory, elements + i * sizeof(value), &value))
			return rcore_error_create(RCORE_ERROR_FAULT,
						  "$LOADED_FEATURES: element %zu", (size_t)i);
		err = rcore_string_bytes(ruby, value, &bytes, &length);
		if (err || length >= sizeof(path) ||
		    rcore_read(ruby->memory, bytes, path, length))
			continue;
		path[length] = 0;
		full = rcore_gem_of_path(path, &name);
		if (full && split(name, full, &name_length, &version, &version_length))
			err = add(gems, name, name_length, name + version, version_length);
	}
	return err;
}

static struct rcore_error *read_box_features(struct gems *gems, uint64_t box)
{
	uint64_t features;
	struct rcore_error *err = RCORE_GET(gems->ruby, box, box, loaded_features, &features);
	return err || !rcore_is_object(gems->ruby, features) ? err
							     : read_features(gems, features);
}

static struct rcore_error *visit_box(void *context, const struct rcore_box *box)
{
	return read_box_features(context, box->address);
}

/* Reads $LOADED_FEATURES of the VM or, from 4.0 on, of each of its boxes. */
static struct rcore_error *read_all_features(struct gems *gems, uint64_t vm)
{
	struct rcore_ruby *ruby = gems->ruby;
	uint64_t features, root;
	struct rcore_error *err = NULL;
	if (rcore_has(&ruby->layout->vm.loaded_features)) {
		err = RCORE_GET(ruby, vm, vm, loaded_features, &features);
		return err ? err : read_features(gems, features);
	}
	if (!rcore_read_field(ruby->memory, vm, &ruby->layout->vm.root_box, &root) && root)
		err = read_box_features(gems, root);
	return err ? err : rcore_boxes(ruby, visit_box, gems);
}

static int by_name(const void *left, const void *right)
{
	const struct rcore_gem *a = left, *b = right;
	return strcmp(a->name, b->name);
}

struct rcore_error *rcore_vm_gems(struct rcore_ruby *ruby, uint64_t vm, uint64_t gem,
				  struct rcore_facts *ret)
{
	struct gems gems = {.ruby = ruby};
	struct rcore_error *err = NULL;
	if (rcore_is_object(ruby, gem))
		err = read_specifications(&gems, gem);
	if (!err || err->code != RCORE_ERROR_NO_MEMORY) {
		struct rcore_error *other = read_all_features(&gems, vm);
		if (err)
			rcore_error_free(other);
		else
			err = other;
	}
	size_t size = gems.found.count * sizeof(*gems.found.items);
	if (size) {
		qsort(gems.found.items, gems.found.count, sizeof(*gems.found.items), by_name);
		ret->gems = rcore_arena_alloc(ruby->arena, size);
		if (ret->gems) {
			memcpy(ret->gems, gems.found.items, size);
			ret->gem_count = gems.found.count;
		} else if (!err) {
			err = rcore_error_no_memory();
		}
	}
	free(gems.found.items);
	return err;
}
