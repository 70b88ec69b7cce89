/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target.h"

/*
 * Replaces libFuzzer for compilers without it: runs the target on each file
 * that is named, and on those of each folder.
 */

static size_t runs;

static void run_file(const char *path)
{
	FILE *in = fopen(path, "re");
	char *bytes = NULL;
	size_t size = 0, room = 0;
	if (!in) {
		perror(path);
		exit(2);
	}
	do {
		if (size == room) {
			room = room ? room * 2 : 1 << 16;
			char *grown = realloc(bytes, room);
			if (!grown)
				abort();
			bytes = grown;
		}
		size += fread(bytes + size, 1, room - size, in);
	} while (!feof(in) && !ferror(in));
	fclose(in);
	/*
	 * Has exactly this size, so that a sanitizer finds a read after its
	 * end.
	 */
	char *exact = malloc(size);
	if (size && !exact)
		abort();
	if (size)
		memcpy(exact, bytes, size);
	free(bytes);
	LLVMFuzzerTestOneInput((const uint8_t *)exact, size);
	free(exact);
	runs++;
}

static void run(const char *path)
{
	struct stat status;
	struct dirent **entries;
	if (stat(path, &status) || !S_ISDIR(status.st_mode)) {
		run_file(path);
		return;
	}
	int count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char *file;
		if (entries[i]->d_name[0] != '.' &&
		    asprintf(&file, "%s/%s", path, entries[i]->d_name) > 0) {
			run_file(file);
			free(file);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	if (!runs) {
		fprintf(stderr, "%s: no inputs; name files, or folders of them\n", argv[0]);
		return 2;
	}
	printf("%zu inputs\n", runs);
	return 0;
}
