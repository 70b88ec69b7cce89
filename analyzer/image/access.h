/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ACCESS_H
#define RCORE_IMAGE_ACCESS_H

/* What an instruction wanted of memory. */
enum rcore_access {
	RCORE_ACCESS_UNKNOWN,
	RCORE_ACCESS_READ,
	RCORE_ACCESS_WRITE, /* or a read and a write of one place */
	RCORE_ACCESS_EXECUTE,
};

#endif
