/* SPDX-License-Identifier: MIT */
#include "session/bpf_place.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/elf/tls.h"
#include "session/decode.h"
#include "session/session.h"

enum {
	/* The highest module number; few programs load more. */
	MODULE_LIMIT = 512,
	/* Bytes of a module's block that are searched. */
	BLOCK_LIMIT = 16 << 10,
	THREAD_LIMIT = 64,
	WORD = sizeof(uint64_t),
	/* If threads switch fibers all the time, another look helps. */
	ATTEMPTS = 20,
};

/* A native thread that runs a Ruby thread. */
struct runner {
	uint64_t thread;  /* rb_thread_t */
	uint64_t pointer; /* the thread pointer */
	uint64_t *words;  /* of its block of the module that is looked at */
};

struct search {
	struct rcore_memory *memory;
	const struct rcore_layout *layout;
	uint64_t vm;
	unsigned machine;
	struct runner runners[THREAD_LIMIT];
	size_t count;
	uint64_t *words;
	size_t word_count; /* of a block */
	uint64_t block;    /* the first thread's */
	/* The words that were found. */
	size_t found;
	uint64_t place; /* address of the last one, in that block */
	struct rcore_ruby_variable *ret;
};

static uint64_t field_of(const struct search *search, uint64_t base,
			 const struct rcore_field *field)
{
	uint64_t value = 0;
	if (!base || !rcore_has(field) || rcore_read_field(search->memory, base, field, &value))
		return 0;
	return value;
}

/*
 * Finds the native threads whose thread pointer is known. Returns false if
 * memory is short.
 */
static bool find_runners(const struct rcore_process *process,
			 const struct rcore_snapshot *snapshot, struct search *search,
			 int64_t *ret_distance)
{
	struct rcore_address_map tids = {0};
	bool fine = rcore_session_index_tids(process, &tids);
	for (size_t i = 0; fine && i < snapshot->thread_count && search->count < THREAD_LIMIT;
	     i++) {
		struct rcore_pthread pthread;
		if (!rcore_session_pthread(process, &tids, search->memory, search->layout,
					   &snapshot->threads[i], &pthread))
			continue;
		*ret_distance = (int64_t)(pthread.pointer - pthread.pthread);
		search->runners[search->count++] = (struct runner){
			.thread = snapshot->threads[i].address, .pointer = pthread.pointer};
	}
	rcore_address_map_deinit(&tids);
	return fine;
}

/*
 * Reads the block of the module in each thread. If the module was loaded later
 * (dlopen), a thread has no block until it uses a variable of the module; the
 * words are then 0. Returns false if no thread has a block, or one cannot be
 * read. If blocks are next to each other, the end of one reads as the start of
 * the next.
 */
static bool read_blocks(struct search *search, uint32_t module)
{
	const struct rcore_tls_variable start = {.module = module};
	search->block = 0;
	for (size_t i = 0; i < search->count; i++) {
		struct runner *runner = &search->runners[i];
		uint64_t block;
		rcore_auto_error err = rcore_tls_address(search->memory, search->machine,
							 runner->pointer, &start, &block);
		runner->words = search->words + i * search->word_count;
		if (err || block % WORD)
			return false;
		if (!block)
			memset(runner->words, 0, search->word_count * WORD);
		else if (rcore_read(search->memory, block, runner->words,
				    search->word_count * WORD))
			return false;
		if (!search->block)
			search->block = block;
	}
	return search->block;
}

static bool is_ec(const struct search *search, uint64_t word)
{
	const struct rcore_layout *layout = search->layout;
	uint64_t thread = field_of(search, word, &layout->ec.thread_ptr);
	return thread && field_of(search, thread, &layout->thread.vm) == search->vm;
}

static bool is_place(const struct search *search, size_t index)
{
	bool is_own = false;
	for (size_t i = 0; i < search->count; i++) {
		const struct runner *runner = &search->runners[i];
		uint64_t word = runner->words[index];
		if (word && (word % WORD || !is_ec(search, word)))
			return false;
		if (word &&
		    field_of(search, runner->thread, &search->layout->thread.ec) == word)
			is_own = true;
	}
	return is_own;
}

static void search_module(struct search *search, uint32_t module)
{
	if (!read_blocks(search, module))
		return;
	for (size_t i = 0; i < search->word_count; i++) {
		uint64_t address = search->block + i * WORD;
		if (!is_place(search, i))
			continue;
		/* The same word, as the end of the previous block. */
		if (search->found && address == search->place) {
			if ((int64_t)(i * WORD) >= search->ret->offset)
				continue;
		} else {
			search->found++;
		}
		search->place = address;
		*search->ret = (struct rcore_ruby_variable){.place = RCORE_RUBY_MODULE,
							    .module = module,
							    .offset = (int64_t)(i * WORD)};
	}
}

/*
 * If the block is at the same distance from the thread pointer in all threads,
 * a program needs no vector to find the variable.
 */
static void settle_static(struct search *search)
{
	int64_t offset = 0, other;
	for (size_t i = 0; i < search->count; i++) {
		if (!rcore_tls_static_offset(search->memory, search->machine,
					     search->runners[i].pointer, search->ret->module,
					     &other) ||
		    (i && other != offset))
			return;
		offset = other;
	}
	search->ret->place = RCORE_RUBY_THREAD;
	search->ret->module = 0;
	search->ret->offset += offset;
}

static struct rcore_error *search_blocks(struct rcore_session *session, struct search *search)
{
	for (int attempt = 0; attempt < ATTEMPTS && search->found != 1; attempt++) {
		search->found = 0;
		if (session->target.live)
			rcore_live_forget(session->target.live);
		for (uint32_t module = 1; module <= MODULE_LIMIT; module++)
			search_module(search, module);
	}
	if (search->found == 1) {
		settle_static(search);
		return NULL;
	}
	return rcore_error_create(RCORE_ERROR_CORRUPT,
				  search->found
					  ? "%zu thread-local words of Ruby could be its "
					    "execution context; rcore cannot decide"
					  : "no thread-local word of Ruby is its execution "
					    "context (of %zu threads)",
				  search->found ? search->found : search->count);
}

/* Returns how many threads did not stop in time: these have no registers. */
static size_t count_running(const struct rcore_process *process)
{
	size_t count = 0;
	for (size_t i = 0; i < process->thread_count; i++)
		count += !process->threads[i].has_registers;
	return count;
}

/* Finds the one variable that Ruby has before 3.0. */
static bool find_ec_pointer(struct rcore_session *session, struct rcore_ruby_variable *ret)
{
	struct rcore_symbol symbol;
	if (!rcore_module_symbol(session->target.modules, session->located.identity.module,
				 "ruby_current_execution_context_ptr", &symbol))
		return false;
	*ret = (struct rcore_ruby_variable){.place = RCORE_RUBY_ADDRESS,
					    .offset = (int64_t)symbol.address};
	return true;
}

static struct rcore_error *find_ec(struct rcore_session *session, struct search *search)
{
	const struct rcore_module *module = session->located.identity.module;
	if (find_ec_pointer(session, search->ret))
		return NULL;
	size_t running = count_running(session->target.process);
	if (!search->count && running)
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "%zu of %zu thread%s did not stop in time; try again",
					  running, session->target.process->thread_count,
					  rcore_plural(session->target.process->thread_count));
	if (!search->count)
		return rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"no Ruby thread has a thread pointer of glibc; rcore knows no other C "
			"library's");
	uint64_t size = rcore_module_thread_block(module);
	if (!size)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "%s has no thread-local variables", module->path);
	search->word_count = (size < BLOCK_LIMIT ? size : BLOCK_LIMIT) / WORD;
	search->words = calloc(THREAD_LIMIT * search->word_count + 1, WORD);
	if (!search->words)
		return rcore_error_no_memory();
	struct rcore_error *err = search_blocks(session, search);
	free(search->words);
	return err;
}

static void find_state(struct rcore_modules *modules, struct rcore_ruby_variable *ret)
{
	struct rcore_tls_variable found;
	if (!rcore_session_profiler_state(modules, &found))
		return;
	*ret = (struct rcore_ruby_variable){
		.place = found.is_static ? RCORE_RUBY_THREAD : RCORE_RUBY_MODULE,
		.module = (uint32_t)found.module,
		.offset = (int64_t)found.offset,
	};
}

/* Finds the native threads that run these Ruby threads, according to the VM. */
static void find_running(const uint64_t *threads, size_t count, int64_t distance,
			 struct search *search)
{
	search->count = 0;
	for (size_t i = 0; i < count && search->count < THREAD_LIMIT; i++) {
		struct runner *runner = &search->runners[search->count];
		uint64_t pthread;
		if (!rcore_session_read_pthread(search->memory, search->layout, threads[i],
						&pthread))
			continue;
		*runner = (struct runner){.thread = threads[i],
					  .pointer = pthread + (uint64_t)distance};
		search->count++;
	}
}

/*
 * A thread that has just been made has no thread pointer yet, and one that is
 * ending no longer has one: these do not count.
 */
static bool place_holds(const struct search *search, const struct rcore_ruby_variable *place)
{
	const struct rcore_tls_variable variable = {.is_static =
							    place->place == RCORE_RUBY_THREAD,
						    .module = place->module,
						    .offset = (uint64_t)place->offset};
	bool is_own = false;
	for (size_t i = 0; i < search->count; i++) {
		const struct runner *runner = &search->runners[i];
		uint64_t address, word = 0;
		rcore_auto_error err = rcore_tls_address(search->memory, search->machine,
							 runner->pointer, &variable, &address);
		if (err || !address || rcore_read_u64(search->memory, address, &word) || !word)
			continue;
		if (word % WORD || !is_ec(search, word))
			return false;
		is_own |= field_of(search, runner->thread, &search->layout->thread.ec) == word;
	}
	return is_own;
}

bool rcore_bpf_places_hold(struct rcore_session *session, const uint64_t *threads, size_t count,
			   const struct rcore_ruby_params *known,
			   struct rcore_ruby_params *params)
{
	const struct rcore_target *target = &session->target;
	struct search search = {
		.memory = rcore_live_bare_memory(target->live),
		.layout = &session->located.location.layout,
		.vm = session->located.location.vm,
		.machine = target->process->machine,
	};
	if (known->ec.place == RCORE_RUBY_NOWHERE)
		return false;
	params->thread_pointer = known->thread_pointer;
	params->dtv = known->dtv;
	params->ec = known->ec;
	find_state(target->modules, &params->state);
	bool holds = false;
	if (known->ec.place == RCORE_RUBY_ADDRESS)
		return find_ec_pointer(session, &params->ec);
	/* While a thread switches fibers, its word and the VM's differ. */
	for (int attempt = 0; attempt < ATTEMPTS && !holds; attempt++) {
		find_running(threads, count, known->thread_pointer, &search);
		holds = place_holds(&search, &known->ec);
	}
	return holds;
}

struct rcore_error *rcore_bpf_places(struct rcore_session *session,
				     const struct rcore_snapshot *snapshot,
				     struct rcore_ruby_params *params)
{
	const struct rcore_target *target = &session->target;
	struct search search = {
		.memory = target->memory,
		.layout = &session->located.location.layout,
		.vm = session->located.location.vm,
		.machine = target->process->machine,
		.ret = &params->ec,
	};
	int64_t distance = 0;
	if (!find_runners(target->process, snapshot, &search, &distance))
		return rcore_error_no_memory();
	params->thread_pointer = distance;
	params->dtv = search.machine == EM_AARCH64 ? 0 : WORD;
	find_state(target->modules, &params->state);
	return find_ec(session, &search);
}
