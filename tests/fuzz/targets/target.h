/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/*
 * Each target is a program of its own with this function. libFuzzer calls it, or driver.c if there is no libFuzzer.
 * It returns whatever the bytes are, and aborts if something happened that must not happen.
 */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Bytes as a file that has a path, until fuzz_file_close(). */
struct fuzz_file {
	int fd;
	char path[32];
};
void fuzz_file_open(struct fuzz_file *file, const uint8_t *bytes, size_t size);
void fuzz_file_close(struct fuzz_file *file);

#endif
