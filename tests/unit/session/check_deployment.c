/* SPDX-License-Identifier: MIT */
/* Where a target ran, as its environment says. */
#include <string.h>

#include "base/count.h"
#include "session/live/deployment.h"
#include "suite.h"

struct variable {
	const char *name, *text;
};

struct example {
	struct variable variables[4];
	const char *service, *release, *host;
};

#define ATTRIBUTES "OTEL_RESOURCE_ATTRIBUTES="

static const struct example examples[] = {
	{{{"OTEL_SERVICE_NAME=", "shop"}, {"HOSTNAME=", "pod-7"}}, "shop", NULL, "pod-7"},
	{{{ATTRIBUTES, "service.name=a,service.version=1.4,host.name=web"}}, "a", "1.4", "web"},
	/* The order in the environment does not matter. */
	{{{ATTRIBUTES, "service.name=a"}, {"OTEL_SERVICE_NAME=", "b"}}, "b", NULL, NULL},
	{{{"DD_SERVICE=", "d"}, {"DD_VERSION=", "2"}, {ATTRIBUTES, "service.version=3"}},
	 "d",
	 "3",
	 NULL},
	{{{"SENTRY_RELEASE=", "s"}, {"DD_VERSION=", "2"}}, NULL, "2", NULL},
	{{{"SENTRY_RELEASE=", "s"}, {"DD_VERSION=", ""}}, NULL, "s", NULL},
	{{{"HOSTNAME=", "h"}, {ATTRIBUTES, "host.name=o"}}, NULL, NULL, "o"},
	/* If a variable is set twice, the first one counts. */
	{{{"DD_SERVICE=", "x"}, {"DD_SERVICE=", "y"}}, "x", NULL, NULL},
	{{{ATTRIBUTES, " service.name = a%2Cb%20%c3%A4 , service.version=%"}},
	 "a,b \xc3\xa4",
	 "%",
	 NULL},
	{{{ATTRIBUTES, "service.name,=,,service.version=1=2,host.name="}}, NULL, "1=2", NULL},
	{{{ATTRIBUTES, "service.name=%00%0g%4,x.service.name=y"}}, "%00%0g%4", NULL, NULL},
	{{{"PATH=", "/bin"}, {"OTEL_SERVICE_NAME", "x"}}, NULL, NULL, NULL},
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

START_TEST(variables)
{
	const struct example *example = &examples[_i];
	struct rcore_arena arena = {0};
	struct rcore_deployment_found found = {0};
	struct rcore_deployment deployment = {.host = "before", .host_source = "machine"};
	for (size_t i = 0; i < RCORE_COUNT(example->variables); i++)
		if (example->variables[i].name)
			rcore_deployment_take(example->variables[i].name,
					      example->variables[i].text, &arena, &found);
	rcore_deployment_settle(&found, &deployment);
	ck_assert(same(deployment.service, example->service));
	ck_assert(same(deployment.release, example->release));
	ck_assert(same(deployment.host, example->host ? example->host : "before"));
	ck_assert_str_eq(deployment.host_source, example->host ? "environment" : "machine");
	rcore_arena_deinit(&arena);
}
END_TEST

/* What is left of a value whose end is missing; NULL: nothing. */
static const struct {
	const char *name, *text, *left;
} cuts[] = {
	{ATTRIBUTES, "service.name=till,service.version=1.1", "service.name=till"},
	{ATTRIBUTES, "service.name=till,", "service.name=till"},
	{ATTRIBUTES, "a=1,b=2,c", "a=1,b=2"},
	{ATTRIBUTES, "service.name=ti", NULL},
	{ATTRIBUTES, "", NULL},
	{"DD_SERVICE=", "a,b", NULL},
	{"HOSTNAME=", "web-1", NULL},
	{"PATH=", "/bin,/usr", NULL},
};

START_TEST(values_are_cut)
{
	char text[64];
	strcpy(text, cuts[_i].text);
	ck_assert(rcore_deployment_drop_cut(cuts[_i].name, text) == (cuts[_i].left != NULL));
	if (cuts[_i].left)
		ck_assert_str_eq(text, cuts[_i].left);
}
END_TEST

/* environment.c reads the first eight bytes of each variable at once. */
START_TEST(names_begin_alike)
{
	const char *names[RCORE_DEPLOYMENT_VARIABLES];
	rcore_deployment_names(names);
	for (size_t i = 0; i < RCORE_COUNT(names); i++) {
		ck_assert_uint_ge(strlen(names[i]), 8);
		ck_assert_uint_le(strlen(names[i]), 8 + 32);
		ck_assert_int_eq(names[i][strlen(names[i]) - 1], '=');
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {names_begin_alike};
	const struct rcore_test_loop loops[] = {{variables, RCORE_COUNT(examples)},
						{values_are_cut, RCORE_COUNT(cuts)}};
	const struct rcore_test_suite suite = {
		.name = "deployment",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
