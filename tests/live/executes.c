/* SPDX-License-Identifier: MIT */
/* Executes itself again and again, LEFT times. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char left[32];
	long count = argc == 2 ? atol(argv[1]) : 0;
	snprintf(left, sizeof(left), "%ld", count - 1);
	if (count > 0)
		execl("/proc/self/exe", argv[0], left, (char *)NULL);
	return 0;
}
