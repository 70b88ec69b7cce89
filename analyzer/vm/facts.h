/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FACTS_H
#define RCORE_VM_FACTS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

/*
 * Sets snapshot->facts, except rubyopt.
 *
 * RUBY_DESCRIPTION, ARGV and Gem are constants of the class Object
 * (classext.const_tbl), which is an ancestor of every Thread's class. The JIT
 * is a word of RUBY_DESCRIPTION; from 3.3 on, ruby_set_yjit_description() of
 * version.c replaces that String if the JIT is enabled later. The gems are
 * those of Gem.loaded_specs, or, if RubyGems is not loaded, those in the paths
 * of $LOADED_FEATURES (".../gems/NAME-VERSION/..."). facts.problem says what
 * could not be read. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_facts(struct rcore_ruby *ruby, uint64_t vm,
				   struct rcore_snapshot *snapshot);

/*
 * Finds a constant of the class Object by its name; *ret is 0 if there is none.
 * Fails if something cannot be read.
 */
struct rcore_error *rcore_vm_constant(struct rcore_ruby *ruby,
				      const struct rcore_snapshot *snapshot, const char *name,
				      uint64_t *ret);

/*
 * Finds the gems of RubyGems and of $LOADED_FEATURES; `gem` is the module Gem,
 * or 0. If something cannot be read, returns an error, and sets what was found
 * before that.
 */
struct rcore_error *rcore_vm_gems(struct rcore_ruby *ruby, uint64_t vm, uint64_t gem,
				  struct rcore_facts *ret);

#endif
