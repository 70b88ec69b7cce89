/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_GEM_H
#define RCORE_IMAGE_SYMBOLIZE_GEM_H

#include <stddef.h>

/*
 * The gem that a file belongs to, by its path: Gem::Specification#full_name,
 * which is the name of its folder in .../gems/ and
 * .../extensions/PLATFORM/ABI/. "pg-1.5.4", "nokogiri-1.16.0-x86_64-linux",
 * "rails-0a1b2c3d4e5f" for a checkout of Bundler's. Gives its length and start
 * within `path`; 0: no gem's.
 */
size_t rcore_gem_of_path(const char *path, const char **start);

#endif
