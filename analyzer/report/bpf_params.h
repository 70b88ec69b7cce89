/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_BPF_PARAMS_H
#define RCORE_REPORT_BPF_PARAMS_H

#include <stdio.h>

#include "base/error.h"
#include "model/ruby.bpf.h"
#include "model/snapshot.h"

/*
 * What `rcore bpf-params` prints: the members of the struct, by their names.
 * `names` are those of params->keys. Error: OS if `out` cannot be written;
 * NO_MEMORY.
 */
struct rcore_error *rcore_report_bpf_params(const struct rcore_ruby_params *params,
					    const char *const *names, FILE *out);
struct rcore_error *rcore_report_bpf_params_json(const struct rcore_snapshot *snapshot,
						 const struct rcore_ruby_params *params,
						 const char *const *names, FILE *out);
/* Writes the struct as it is in memory. */
struct rcore_error *rcore_report_bpf_params_binary(const struct rcore_ruby_params *params,
						   FILE *out);

#endif
