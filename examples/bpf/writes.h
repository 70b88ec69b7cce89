/* SPDX-License-Identifier: MIT */

/* A request, by its request_id, which is empty outside of requests. */
struct request {
	char id[40];
};

struct count {
	__u64 calls, bytes;
};

enum { WRITE = 1 }; /* the number of write(2) on x86-64 */
