/* SPDX-License-Identifier: MIT */
#include "target/output/inputs.h"

#include <string.h>

#include "base/grow.h"

static struct rcore_error *add(struct rcore_inputs *inputs, const struct stat *file,
			       const char *what)
{
	struct rcore_input *input;
	if (!S_ISREG(file->st_mode) || rcore_inputs_find(inputs, file))
		return NULL;
	input = rcore_push(inputs);
	if (!input)
		return rcore_error_no_memory();
	*input = (struct rcore_input){file->st_dev, file->st_ino, what};
	return NULL;
}

struct rcore_error *rcore_inputs_add(struct rcore_inputs *inputs, const char *path,
				     const char *what)
{
	struct stat file;
	return path && !stat(path, &file) ? add(inputs, &file, what) : NULL;
}

struct rcore_error *rcore_inputs_add_fd(struct rcore_inputs *inputs, int fd, const char *what)
{
	struct stat file;
	return !fstat(fd, &file) ? add(inputs, &file, what) : NULL;
}

const char *rcore_inputs_find(const struct rcore_inputs *inputs, const struct stat *file)
{
	for (size_t i = 0; inputs && i < inputs->count; i++)
		if (inputs->items[i].device == file->st_dev &&
		    inputs->items[i].inode == file->st_ino)
			return inputs->items[i].what;
	return NULL;
}

void rcore_inputs_deinit(struct rcore_inputs *inputs)
{
	free(inputs->items);
	*inputs = (struct rcore_inputs){0};
}
