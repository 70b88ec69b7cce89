/* SPDX-License-Identifier: MIT */
#include "flip_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "image/symbolize/symbolize_dwarf.h"
#include "ruby/ruby.h"

static struct {
	struct flip_memory *memory; /* NULL: off */
	struct flip_record *record;
} recorder;

static void *need(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static bool apply(const struct flip *flip, uint64_t address, unsigned char *bytes, size_t size)
{
	bool hit = false;
	for (size_t i = 0; i < sizeof(flip->mask); i++) {
		uint64_t place = flip->address + i - address;
		if (place < size) {
			bytes[place] ^= (unsigned char)(flip->mask >> 8 * i);
			hit = true;
		}
	}
	return hit;
}

static enum rcore_fault read_flipped(struct rcore_memory *base, uint64_t address, void *buffer,
				     size_t size)
{
	struct flip_memory *memory = (struct flip_memory *)base;
	enum rcore_fault fault = rcore_read(memory->below, address, buffer, size);
	if (fault)
		return fault;
	for (size_t i = 0; i < memory->flip_count; i++)
		memory->hits += apply(&memory->flips[i], address, buffer, size);
	if (recorder.memory == memory) {
		struct flip_read *read = need(rcore_push(&recorder.record->reads));
		*read = (struct flip_read){address, size, buffer, false};
	}
	return RCORE_FAULT_NONE;
}

void flip_memory_init(struct flip_memory *memory, struct rcore_memory *below)
{
	*memory = (struct flip_memory){.memory.read = read_flipped, .below = below};
}

enum rcore_fault __real_rcore_read_field(struct rcore_memory *memory, uint64_t base,
					 const struct rcore_field *field, uint64_t *ret);
enum rcore_fault __wrap_rcore_read_field(struct rcore_memory *memory, uint64_t base,
					 const struct rcore_field *field, uint64_t *ret);
bool __real_rcore_field_of_any(const void *copy, size_t size, const struct rcore_field *field,
			       uint64_t *ret);
bool __wrap_rcore_field_of_any(const void *copy, size_t size, const struct rcore_field *field,
			       uint64_t *ret);
void __real_rcore_ruby_init(struct rcore_ruby *ruby, struct rcore_memory *memory,
			    const struct rcore_layout *layout, struct rcore_arena *arena);
void __wrap_rcore_ruby_init(struct rcore_ruby *ruby, struct rcore_memory *memory,
			    const struct rcore_layout *layout, struct rcore_arena *arena);

static void add_field(const struct rcore_field *field, uint64_t base, uint64_t value)
{
	struct flip_field *read = need(rcore_push(&recorder.record->fields));
	*read = (struct flip_field){field, base + (uint64_t)field->offset, value};
}

enum rcore_fault __wrap_rcore_read_field(struct rcore_memory *memory, uint64_t base,
					 const struct rcore_field *field, uint64_t *ret)
{
	enum rcore_fault fault = __real_rcore_read_field(memory, base, field, ret);
	if (recorder.memory && !fault) {
		struct flip_record *record = recorder.record;
		record->reads.items[record->reads.count - 1].is_field = true;
		add_field(field, base, *ret);
	}
	return fault;
}

bool __wrap_rcore_field_of_any(const void *copy, size_t size, const struct rcore_field *field,
			       uint64_t *ret)
{
	bool done = __real_rcore_field_of_any(copy, size, field, ret);
	const char *at = copy;
	if (!recorder.memory || !done)
		return done;
	for (size_t i = recorder.record->reads.count; i > 0; i--) {
		const struct flip_read *read = &recorder.record->reads.items[i - 1];
		if (read->is_field || at < read->buffer || at >= read->buffer + read->size)
			continue;
		add_field(field, read->address + (uint64_t)(at - read->buffer), *ret);
		break;
	}
	return done;
}

void __wrap_rcore_ruby_init(struct rcore_ruby *ruby, struct rcore_memory *memory,
			    const struct rcore_layout *layout, struct rcore_arena *arena)
{
	__real_rcore_ruby_init(ruby, memory, layout, arena);
	if (recorder.memory)
		recorder.record->layout = layout;
}

/*
 * Debug files are not a part of the target, and decompressing those of the C
 * library takes ten times as long as all the rest.
 */
struct rcore_units *__wrap_rcore_units_new(Dwfl_Module *module);
struct rcore_units *__wrap_rcore_units_new(Dwfl_Module *module)
{
	return NULL;
}

void flip_record_start(struct flip_memory *memory, struct flip_record *record)
{
	memset(record, 0, sizeof(*record));
	recorder.memory = memory;
	recorder.record = record;
}

void flip_record_stop(void)
{
	recorder.memory = NULL;
}

void flip_record_deinit(struct flip_record *record)
{
	free(record->reads.items);
	free(record->fields.items);
}
