/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_CONTAINERS_H
#define RCORE_SESSION_CONTAINERS_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Whether the text of /proc/PID/cgroup places the process in a container whose
 * id begins with `id`. Knows the cgroups of Docker, Podman, containerd, CRI-O
 * and Kubernetes, of cgroup version 1 and 2. Processes that only serve a
 * container (conmon) are not in it.
 */
bool rcore_cgroup_is_of(const char *cgroup, const char *id);

/*
 * Finds the Ruby process of a container from which its other Ruby processes
 * descend. Errors: USAGE (`id` is no id; there is no such process, or there are
 * several), OS, NO_MEMORY.
 */
struct rcore_error *rcore_container_find(const char *id, int *ret_pid);

#endif
