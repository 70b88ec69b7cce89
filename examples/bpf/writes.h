/* SPDX-License-Identifier: MIT */

/* Its request_id; empty: it works on no request. */
struct request {
	char id[40];
};

struct count {
	__u64 calls, bytes;
};

enum { WRITE = 1 }; /* the number of write(2) on x86-64 */
