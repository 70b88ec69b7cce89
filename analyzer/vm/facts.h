/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FACTS_H
#define RCORE_VM_FACTS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

/*
 * Sets snapshot->facts, but for rubyopt.
 *
 * RUBY_DESCRIPTION, ARGV and Gem are constants of the class Object (classext.const_tbl), which is an ancestor
 * of any Thread's class. The JIT that is on is a word of RUBY_DESCRIPTION, which
 * ruby_set_yjit_description makes anew where it is enabled later. Gems are those of Gem.loaded_specs, and those
 * that the paths of $LOADED_FEATURES name (".../gems/NAME-VERSION/...") where RubyGems does not run.
 * What cannot be read is facts.problem. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_facts(struct rcore_ruby *ruby, uint64_t vm,
				   struct rcore_snapshot *snapshot);

/* A constant of the class Object by its name; *ret is 0 where there is none. Errors of what cannot be read. */
struct rcore_error *rcore_vm_constant(struct rcore_ruby *ruby,
				      const struct rcore_snapshot *snapshot, const char *name,
				      uint64_t *ret);

/* The gems of RubyGems and of $LOADED_FEATURES; `gem` is the module Gem, 0: there is none. Errors of what
 * could not be read; what was found up to there is set. */
struct rcore_error *rcore_vm_gems(struct rcore_ruby *ruby, uint64_t vm, uint64_t gem,
				  struct rcore_facts *ret);

#endif
