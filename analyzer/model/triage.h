/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_TRIAGE_H
#define RCORE_MODEL_TRIAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Whose code a frame runs. */
enum rcore_origin {
	RCORE_ORIGIN_APP,
	RCORE_ORIGIN_GEM,
	RCORE_ORIGIN_STDLIB, /* Ruby's own library, written in Ruby */
	/* A method of the VM: in C, or <internal:...>. */
	RCORE_ORIGIN_CORE,
	RCORE_ORIGIN_EXTENSION,   /* native: of a gem or of Ruby's library */
	RCORE_ORIGIN_LIBRARY,     /* native: of the system */
	RCORE_ORIGIN_INTERPRETER, /* native: of the VM */
	RCORE_ORIGIN_UNKNOWN,     /* code that no file contains */
};

/* The frame to look at first. */
struct rcore_blame {
	bool present;
	enum rcore_origin origin;
	/* Index into snapshot->fibers; -1: a thread that runs no Ruby. */
	int fiber;
	const char *name;   /* label or function; NULL: unknown */
	const char *path;   /* source; NULL: unknown */
	int line;           /* 0: unknown */
	const char *gem;    /* full name, "pg-1.5.4"; NULL: not in a gem */
	const char *module; /* native file; NULL: a Ruby frame */
	const char *why;    /* one sentence */
	/*
	 * Native code that this frame called, and in which the process died:
	 * the gem, or else the file, and the innermost function, as in
	 * "nokogiri-1.16.0: xmlGetNsList". NULL: none.
	 */
	const char *native;
};

/* A frame of the stack from which a signature was made. */
struct rcore_signature_frame {
	const char *name, *place; /* label or function; file or module */
	enum rcore_origin origin;
	const char *strict, *loose; /* what was hashed; NULL: left out */
	const char *why;            /* why it was hashed, or left out */
};

/*
 * Recognizes a crash that was seen before. A signature is "r1:" and 16
 * hexadecimal digits: XXH3-64 of lines of text, which are the cause and the
 * normalized frames, innermost first. `strict` changes if the path to the crash
 * does. `loose` stays the same across releases of Ruby and renamed files.
 */
struct rcore_signature {
	const char *strict, *loose;           /* NULL: there is no stack */
	const char *strict_text, *loose_text; /* what was hashed */
	struct rcore_signature_frame *frames;
	size_t frame_count;
};

#endif
