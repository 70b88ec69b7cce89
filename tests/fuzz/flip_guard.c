/* SPDX-License-Identifier: MIT */
#include "flip_guard.h"

#include <json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

/* Declared by allocator_interface.h, which gcc's package lacks. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
					      void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *pointer);
#endif

static struct {
	const char *command;
	char last_words[512]; /* a signal handler may write them */
	size_t held, peak, before;
} guard;

static void say_seed(void)
{
	ssize_t ignored = write(STDERR_FILENO, guard.last_words, strlen(guard.last_words));
	(void)ignored;
}

static void on_signal(int signo)
{
	static const char late[] = "flips: a seed took too long\n";
	ssize_t ignored = signo == SIGALRM ? write(STDERR_FILENO, late, sizeof(late) - 1) : 0;
	(void)ignored;
	say_seed();
	signal(SIGABRT, SIG_DFL);
	abort();
}

#ifdef __SANITIZE_ADDRESS__
static void on_malloc(const volatile void *pointer, size_t size)
{
	guard.held += size;
	if (guard.held > guard.peak)
		guard.peak = guard.held;
}

static void on_free(const volatile void *pointer)
{
	if (pointer)
		guard.held -= __sanitizer_get_allocated_size(pointer);
}
#endif

void flip_guard_init(const char *command)
{
	guard.command = command;
	signal(SIGALRM, on_signal);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(say_seed);
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#else
	signal(SIGSEGV, on_signal);
	signal(SIGABRT, on_signal);
#endif
}

void flip_guard_begin(uint64_t seed)
{
	snprintf(guard.last_words, sizeof(guard.last_words),
		 "flips: seed %llu; again: %s%llu\n", (unsigned long long)seed, guard.command,
		 (unsigned long long)seed);
	guard.before = guard.peak = guard.held;
	alarm(FLIP_SECONDS);
}

const char *flip_guard_end(void)
{
	alarm(0);
	if (guard.peak - guard.before > FLIP_MEMORY_LIMIT)
		return "too much memory";
	return guard.held == guard.before ? NULL : "memory not freed";
}

const char *flip_check_text(const char *text)
{
	while (*text) {
		uint32_t character;
		size_t length = rcore_utf8_decode(text, &character);
		if (!length)
			return "not UTF-8";
		if (character != '\n' && rcore_unsafe_character(character))
			return "unsafe for a terminal";
		text += length;
	}
	return NULL;
}

const char *flip_check_json(const char *text)
{
	struct json_object *json = json_tokener_parse(text);
	if (!json)
		return "not JSON";
	json_object_put(json);
	return NULL;
}
