/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/count.h"
#include "session/live/containers.h"
#include "triage/process_role.h"
#include "suite.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *cgroup;
	bool found;
} cgroups[] = {
	{"0::/"
	 "system.slice/docker-" ID ".scope\n",
	 true},
	{"0::/"
	 "system.slice/docker-" ID ".scope/init\n",
	 true},
	{"13:pids:/"
	 "docker/" ID "\n12:devices:/"
	 "docker/" ID "\n0::/\n",
	 true},
	{"0::/"
	 "machine.slice/libpod-" ID ".scope/container\n",
	 true},
	{"0::/"
	 "user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
	 ".scope/container\n",
	 true},
	{"0::/"
	 "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/"
	 "cri-containerd-" ID ".scope\n",
	 true},
	{"0::/"
	 "kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope\n",
	 true},
	{"11:memory:/"
	 "kubepods/burstable/pod0a1b2c3d-0000-1111-2222-333344445555/" ID "\n",
	 true},
	{"4:cpu:/"
	 "system.slice/containerd.service/"
	 "kubepods-besteffort-pod1.slice:cri-containerd:" ID "\n",
	 true},
	{"0::/"
	 "kubepods/besteffort/pod1/" ID,
	 true},
	{"0::/"
	 "machine.slice/libpod-conmon-" ID ".scope\n",
	 false},
	{"0::/"
	 "kubepods.slice/crio-conmon-" ID ".scope\n",
	 false},
	{"0::/"
	 "system.slice/docker-" OTHER ".scope\n",
	 false},
	{"0::/"
	 "user.slice/user-1000.slice/session-1.scope\n",
	 false},
	{"0::/"
	 "system.slice/x" ID ".scope\n",
	 false},
	{"0::/"
	 "docker/0123\n",
	 false},
	{"0::/\n", false},
	{"", false},
};

START_TEST(container_of_cgroup)
{
	ck_assert_int_eq(rcore_cgroup_is_of(cgroups[_i].cgroup, "0123456789ab"),
			 cgroups[_i].found);
	ck_assert_int_eq(rcore_cgroup_is_of(cgroups[_i].cgroup, ID), cgroups[_i].found);
	ck_assert(!rcore_cgroup_is_of(cgroups[_i].cgroup, "123456789ab"));
}
END_TEST

static const char *const wrong_ids[] = {
	"", "012", "web", "0123456789AB", "docker-0123456789ab", ID "0", "..", "0123\n",
};

START_TEST(wrong_id)
{
	int pid = 0;
	struct rcore_error *err = rcore_container_find(wrong_ids[_i], &pid);
	ck_assert(err && err->code == RCORE_ERROR_USAGE);
	rcore_error_free(err);
}
END_TEST

static const struct {
	const char *title, *role; /* NULL: none */
} titles[] = {
	{"puma: cluster worker 2: 1234 [shop]", "Puma worker 2"},
	{"puma: cluster worker 0: 1", "Puma worker 0"},
	{"puma 6.4.2 (tcp://0.0.0.0:9292) [shop]", "Puma"},
	{"unicorn master -c unicorn.rb", "Unicorn master"},
	{"unicorn_rails master -E production", "Unicorn master"},
	{"unicorn worker[13] -c unicorn.rb", "Unicorn worker 13"},
	{"unicorn_rails worker[0]", "Unicorn worker 0"},
	{"sidekiq 7.2.1 shop [3 of 5 busy]", "Sidekiq"},
	{"http://127.0.0.1:9292 (C=1/12 R=0/1.5K L=0.031)", "Falcon worker"},
	{"shop (1) (C=1/1 R=1/1 L=1.0)", "Falcon worker"},
	{"/usr/bin/ruby /usr/local/bin/falcon serve -n 3", "Falcon master"},
	{"ruby -W0 /srv/falcon/bin/falcon host", "Falcon master"},
	{"shop (C=1/1", NULL},
	{"vim notes/falcon", NULL},
	{"puma", NULL},
	{"puma: cluster worker", NULL},
	{"puma: cluster worker x: 1", NULL},
	{"puma: cluster worker 99999999999999999999: 1", NULL},
	{"unicorn worker[", NULL},
	{"ruby app.rb", NULL},
	{"", NULL},
	{NULL, NULL},
};

START_TEST(role_of_title)
{
	struct rcore_process_role role;
	char text[64];
	bool found = rcore_process_role(titles[_i].title, &role);
	ck_assert_int_eq(found, titles[_i].role != NULL);
	if (found)
		ck_assert_str_eq(rcore_process_role_text(&role, text, sizeof(text)),
				 titles[_i].role);
}
END_TEST

int main(void)
{
	const struct rcore_test_loop loops[] = {{container_of_cgroup, RCORE_COUNT(cgroups)},
						{wrong_id, RCORE_COUNT(wrong_ids)},
						{role_of_title, RCORE_COUNT(titles)}};
	const struct rcore_test_suite suite = {
		.name = "processes",
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
