/* SPDX-License-Identifier: MIT */
#include "target/live/live_fds.h"

#include <arpa/inet.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "base/text.h"
#include "target/live/live_files.h"
#include "target/live/live_private.h"
#include "target/process.h"

/* Returns the value of a pair of /proc/PID/auxv; 0: there is none. */
static uint64_t value_of(const char *text, size_t size, uint64_t type)
{
	uint64_t pair[2];
	for (size_t i = 0; (i + 1) * sizeof(pair) <= size; i++) {
		memcpy(pair, text + i * sizeof(pair), sizeof(pair));
		if (pair[0] == type)
			return pair[1];
	}
	return 0;
}

/*
 * Whether /proc/PID/auxv has the same addresses. The kernel draws them, so
 * another process, or one of another machine, has others.
 */
static bool is_same(int folder, const struct rcore_process *process)
{
	static const uint64_t types[] = {AT_SYSINFO_EHDR, AT_PHDR, AT_ENTRY, AT_RANDOM};
	size_t size, known = 0;
	char *text = rcore_live_file(folder, "auxv", &size);
	bool same = text != NULL;
	for (size_t i = 0; same && i < RCORE_COUNT(types); i++) {
		uint64_t wanted;
		if (!rcore_process_auxv(process, types[i], &wanted))
			continue;
		same = value_of(text, size, types[i]) == wanted;
		known++;
	}
	free(text);
	return same && known > 1;
}

struct rcore_live *rcore_live_debugged_open(const struct rcore_process *process)
{
	int task;
	struct rcore_live *live = process->pid > 0 ? calloc(1, sizeof(*live)) : NULL;
	if (!live)
		return NULL;
	live->pid = process->pid;
	live->folder = rcore_live_folder_open(process->pid, &task);
	if (live->folder >= 0 && is_same(live->folder, process))
		return live;
	rcore_live_debugged_close(live);
	return NULL;
}

void rcore_live_debugged_close(struct rcore_live *live)
{
	if (live && live->folder >= 0)
		close(live->folder);
	free(live);
}

bool rcore_live_fd(const struct rcore_live *live, int fd, char *ret, size_t size)
{
	char path[32];
	snprintf(path, sizeof(path), "fd/%d", fd);
	ssize_t length = readlinkat(live->folder, path, ret, size - 1);
	if (length <= 0)
		return false;
	ret[length] = '\0';
	return true;
}

/*
 * Parses "0100007F:1F90": the words of the address as they are in memory, in
 * hex, and the port.
 */
static bool read_address(const char *text, char *ret, size_t size)
{
	uint32_t words[4];
	char shown[INET6_ADDRSTRLEN];
	size_t digits = strcspn(text, ":");
	unsigned port;
	if ((digits != 8 && digits != 32) || sscanf(text + digits, ":%4X", &port) != 1)
		return false;
	for (size_t i = 0; i < digits / 8; i++)
		if (sscanf(text + i * 8, "%8X", &words[i]) != 1)
			return false;
	if (!inet_ntop(digits == 8 ? AF_INET : AF_INET6, words, shown, sizeof(shown)))
		return false;
	snprintf(ret, size, digits == 8 ? "%s:%u" : "[%s]:%u", shown, port);
	return true;
}

enum { ADDRESSES_SIZE = 256 };

/*
 * A line of /proc/net/tcp and the like: sl, local, remote, state, queues,
 * timer, retransmits, uid, timeout, inode.
 */
static bool inet_inode(const char *line, unsigned long *ret)
{
	return sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %lu", ret) == 1;
}

static bool inet_addresses(const char *line, const char *protocol, char ret[ADDRESSES_SIZE])
{
	enum { LISTEN = 0x0a };
	char local[40], remote[40], from[64], to[64];
	unsigned state;
	if (sscanf(line, "%*s %39s %39s %X", local, remote, &state) != 3 ||
	    !read_address(local, from, sizeof(from)) || !read_address(remote, to, sizeof(to)))
		return false;
	bool connected = strtoul(strchr(remote, ':') + 1, NULL, 16) != 0;
	snprintf(ret, ADDRESSES_SIZE, "%s %s%s%s", protocol, from,
		 state == LISTEN ? " listens"
		 : connected     ? " with "
				 : "",
		 connected ? to : "");
	return true;
}

/* Num, RefCount, Protocol, Flags, Type, St, Inode, Path. */
static bool unix_inode(const char *line, unsigned long *ret)
{
	return sscanf(line, "%*s %*s %*s %*s %*s %*s %lu", ret) == 1;
}

static bool unix_addresses(const char *line, char ret[ADDRESSES_SIZE])
{
	int path = 0;
	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %n", &path) < 0 || !path || !line[path])
		return false;
	rcore_format(ret, ADDRESSES_SIZE, "unix %s", line + path);
	return true;
}

static int compare_inodes(const void *a, const void *b)
{
	const struct rcore_live_socket *one = a, *other = b;
	return one->inode < other->inode ? -1 : one->inode > other->inode;
}

/*
 * Returns how many sockets of the list it found. `protocol` is NULL for unix.
 */
static size_t read_sockets(char *table, const char *protocol, struct rcore_live_socket *sockets,
			   size_t count, struct rcore_arena *arena)
{
	char text[ADDRESSES_SIZE], *rest;
	size_t found = 0;
	for (char *line = strtok_r(table, "\n", &rest); line && found < count;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct rcore_live_socket wanted = {0}, *socket;
		if (!(protocol ? inet_inode : unix_inode)(line, &wanted.inode))
			continue;
		socket = bsearch(&wanted, sockets, count, sizeof(*sockets), compare_inodes);
		if (!socket || socket->addresses ||
		    !(protocol ? inet_addresses(line, protocol, text)
			       : unix_addresses(line, text)))
			continue;
		socket->addresses = rcore_arena_strdup(arena, text);
		found++;
	}
	return found;
}

void rcore_live_sockets(const struct rcore_live *live, struct rcore_live_socket *sockets,
			size_t count, struct rcore_arena *arena)
{
	static const struct {
		const char *name, *protocol; /* NULL: unix */
	} tables[] = {
		{"net/tcp", "TCP"},  {"net/tcp6", "TCP"}, {"net/udp", "UDP"},
		{"net/udp6", "UDP"}, {"net/unix", NULL},
	};
	size_t found = 0;
	if (count)
		qsort(sockets, count, sizeof(*sockets), compare_inodes);
	for (size_t i = 0; i < RCORE_COUNT(tables) && found < count; i++) {
		char *table = rcore_live_file(live->folder, tables[i].name, NULL);
		if (table)
			found += read_sockets(table, tables[i].protocol, sockets, count, arena);
		free(table);
	}
}
