/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sampler/native/native.h"
#include "sampler/sampler_private.h"

/* Stores what the decoders found out about static variables in the session. */
static void finish(const struct rcore_ruby *ruby, void *context)
{
	struct rcore_sampler *sampler = context;
	sampler->located->statics = ruby->statics;
}

static void prepare(struct rcore_ruby *ruby, void *context)
{
	const struct rcore_sampler *sampler = context;
	rcore_ruby_set_vm(ruby, sampler->vm);
	ruby->global_symbols = sampler->located->location.global_symbols;
	ruby->statics = sampler->located->statics;
	ruby->hides_text = sampler->options.redact >= RCORE_REDACT_STRINGS;
}

static bool aim_at_gc(struct rcore_sampler *sampler)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_field *field = &layout->objspace.during_gc;
	uint64_t objspace = 0;
	if (!rcore_has_place(field) || !rcore_has_place(&layout->vm.objspace) ||
	    rcore_read_field(rcore_live_bare_memory(sampler->live), sampler->vm,
			     &layout->vm.objspace, &objspace) ||
	    !objspace)
		return true;
	sampler->objspace = objspace;
	return rcore_piece_set(&sampler->gc, objspace,
			       (size_t)field->offset + sizeof(uint64_t));
}

/*
 * The process runs while it is read. Parts that do not fit together now may fit
 * later.
 */
static struct rcore_error *locate(struct rcore_sampler *sampler)
{
	enum { ATTEMPTS = 5 };
	struct rcore_error *err = NULL;
	for (int i = 0; i < ATTEMPTS; i++) {
		rcore_error_free(err);
		rcore_live_forget(sampler->live);
		err = rcore_session_find(sampler->session, &sampler->located);
		if (!err ||
		    (err->code != RCORE_ERROR_CORRUPT && err->code != RCORE_ERROR_FAULT))
			break;
	}
	rcore_live_forget(sampler->live);
	return err;
}

static struct rcore_error *begin(struct rcore_sampler *sampler)
{
	static const struct rcore_cache_options pages = {.max_bytes = 4 << 20};
	struct rcore_error *err = locate(sampler);
	if (err)
		return err;
	const unsigned *version = sampler->located->identity.version;
	snprintf(sampler->ruby, sizeof(sampler->ruby), "%u.%u.%u", version[0], version[1],
		 version[2]);
	sampler->layout = &sampler->located->location.layout;
	sampler->vm = sampler->located->location.vm;
	rcore_stack_reader_init(&sampler->reader, sampler->live, sampler->layout, sampler->vm);
	sampler->reader.is_single = sampler->options.is_single;
	rcore_copies_init(&sampler->copies, rcore_live_bare_memory(sampler->live));
	rcore_codes_init(&sampler->codes, sampler->profile, &sampler->copies.memory,
			 sampler->layout, prepare, finish, sampler);
	if (!aim_at_gc(sampler))
		return rcore_error_no_memory();
	err = rcore_cache_open(rcore_live_bare_memory(sampler->live), &pages, &sampler->pages);
	if (!err)
		err = rcore_sampler_work_labels_init(sampler);
	return err ? err : rcore_sampler_list(sampler);
}

struct rcore_error *rcore_sampler_open(int pid, const struct rcore_options *open,
				       const struct rcore_sampler_options *options,
				       struct rcore_profile *profile,
				       struct rcore_sampler **ret)
{
	struct rcore_options running = *open;
	struct rcore_sampler *sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return rcore_error_no_memory();
	sampler->options = *options;
	sampler->open = *open;
	sampler->profile = profile;
	sampler->generation = profile->generation;
	running.no_stop = running.no_native = true;
	running.max_pause_ms = 0;
	struct rcore_error *err = rcore_open_pid(pid, &running, &sampler->session);
	if (!err) {
		sampler->live = sampler->session->target.live;
		err = begin(sampler);
	}
	if (!err && options->redact != RCORE_REDACT_NONE &&
	    !(sampler->redactor = rcore_redactor_new(options->redact)))
		err = rcore_error_no_memory();
	if (!err && options->native)
		err = rcore_native_new(sampler);
	if (err) {
		struct rcore_error *ended =
			sampler->session ? rcore_live_check(sampler->live) : NULL;
		rcore_sampler_close(sampler);
		if (!ended)
			return err;
		rcore_error_free(err);
		return ended;
	}
	/* Opening a sampler can take a second, in which nothing is sampled. */
	if (!sampler->options.begun)
		sampler->options.begun = rcore_clock_ns();
	*ret = sampler;
	return NULL;
}

void rcore_sampler_close(struct rcore_sampler *sampler)
{
	if (!sampler)
		return;
	rcore_native_free(sampler->native);
	rcore_redactor_free(sampler->redactor);
	for (size_t i = 0; i < sampler->threads.count; i++)
		rcore_sampled_thread_free(sampler->threads.items[i]);
	rcore_parked_free_all(sampler);
	for (size_t i = 0; i < sampler->ractors.count; i++)
		free(sampler->ractors.items[i].piece.bytes);
	if (sampler->layout) {
		rcore_sampler_work_labels_deinit(sampler);
		rcore_codes_deinit(&sampler->codes);
		rcore_stack_reader_deinit(&sampler->reader);
		rcore_cache_close(sampler->pages);
	}
	free(sampler->title);
	rcore_sampler_forget_fibers(sampler);
	rcore_away_deinit(sampler);
	rcore_address_map_deinit(&sampler->parked_at);
	rcore_address_map_deinit(&sampler->parked_states);
	free(sampler->threads.items);
	free(sampler->ractors.items);
	free(sampler->ractor_list.bytes);
	free(sampler->gc.bytes);
	free(sampler->clocks.items);
	free(sampler->others.items);
	free(sampler->stacks.items);
	free(sampler->all_stacks.items);
	free(sampler->heads.items);
	free(sampler->looks.items);
	rcore_close(sampler->session);
	free(sampler);
}
