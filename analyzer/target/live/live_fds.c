/* SPDX-License-Identifier: MIT */
#include "target/live/live_fds.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "target/live/live_files.h"
#include "target/live/live_private.h"

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

/*
 * A line of /proc/net/tcp and the like: sl, local, remote, state, queues,
 * timer, retransmits, uid, timeout, inode.
 */
static bool inet_line(const char *line, const char *protocol, unsigned long inode, char *ret,
		      size_t size)
{
	enum { LISTEN = 0x0a };
	char local[40], remote[40], from[64], to[64];
	unsigned state;
	unsigned long number;
	if (sscanf(line, "%*s %39s %39s %X %*s %*s %*s %*s %*s %lu", local, remote, &state,
		   &number) != 4 ||
	    number != inode || !read_address(local, from, sizeof(from)) ||
	    !read_address(remote, to, sizeof(to)))
		return false;
	bool connected = strtoul(strchr(remote, ':') + 1, NULL, 16) != 0;
	snprintf(ret, size, "%s %s%s%s", protocol, from,
		 state == LISTEN ? " listens"
		 : connected     ? " with "
				 : "",
		 connected ? to : "");
	return true;
}

/* Num, RefCount, Protocol, Flags, Type, St, Inode, Path. */
static bool unix_line(const char *line, unsigned long inode, char *ret, size_t size)
{
	unsigned long number;
	int path = 0;
	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu %n", &number, &path) != 1 ||
	    number != inode || !path || !line[path])
		return false;
	snprintf(ret, size, "unix %s", line + path);
	return true;
}

bool rcore_live_socket(const struct rcore_live *live, unsigned long inode, char *ret,
		       size_t size)
{
	static const struct {
		const char *name, *protocol; /* NULL: unix */
	} tables[] = {
		{"net/tcp", "TCP"},  {"net/tcp6", "TCP"}, {"net/udp", "UDP"},
		{"net/udp6", "UDP"}, {"net/unix", NULL},
	};
	bool found = false;
	for (size_t i = 0; !found && i < RCORE_COUNT(tables); i++) {
		char *rest, *text = rcore_live_file(live->folder, tables[i].name, NULL);
		for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !found;
		     line = strtok_r(NULL, "\n", &rest))
			found = tables[i].protocol
					? inet_line(line, tables[i].protocol, inode, ret, size)
					: unix_line(line, inode, ret, size);
		free(text);
	}
	return found;
}
