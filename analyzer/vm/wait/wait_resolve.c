/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "base/text.h"
#include "ruby/inspect/inspect.h"
#include "vm/wait/wait_private.h"

/*
 * No list of the VM has the threads that wait for getaddrinfo() of the C
 * library. Up to 3.2, it blocks the thread itself. From 3.3 on, it runs in a
 * thread of its own, for which the Ruby thread waits (rb_getaddrinfo() of
 * ext/socket/raddrinfo.c). From 3.4 on, TCPSocket waits in select() instead
 * (init_fast_fallback_inetsock_internal() of ipsocket.c). The name is the first
 * argument of the method.
 */
static const char *const methods[] = {
	"TCPSocket#initialize",
	"TCPServer#initialize",
	"Addrinfo.getaddrinfo",
	"Addrinfo.tcp",
	"Addrinfo.udp",
	"Addrinfo.ip",
	"Addrinfo#initialize",
	"Socket.getaddrinfo",
	"Socket.gethostbyname",
	"Socket.sockaddr_in",
	"Socket.pack_sockaddr_in",
	"IPSocket.getaddress",
	"TCPSocket.gethostbyname",
	"UDPSocket#connect",
	"UDPSocket#bind",
};

static bool resolves(const char *label)
{
	for (size_t i = 0; i < RCORE_COUNT(methods); i++)
		if (rcore_same_text(label, methods[i]))
			return true;
	return false;
}

bool rcore_wait_resolves(struct rcore_waits *waits, const struct rcore_wait_place *place)
{
	return place->first < place->end && place->fiber->is_current &&
	       resolves(place->fiber->frames[place->first].label) &&
	       !rcore_wait_connects(waits, place->fiber);
}

struct rcore_error *rcore_wait_set_name(struct rcore_waits *waits, struct rcore_wait *wait,
					const struct rcore_wait_place *place)
{
	struct rcore_value shown;
	uint64_t name;
	wait->method = place->fiber->frames[place->first].label;
	for (size_t i = place->first; i < place->end; i++) {
		if (!resolves(place->fiber->frames[i].label))
			return NULL;
		if (rcore_wait_arguments(waits, place->fiber, i, &name, 1) <= 0)
			continue;
		struct rcore_error *err =
			rcore_inspect(waits->loader->ruby, name, NULL, &shown);
		if (!err && !shown.problem)
			wait->argument = shown.text;
		return err;
	}
	return NULL;
}
