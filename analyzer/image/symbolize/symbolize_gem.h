/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_GEM_H
#define RCORE_IMAGE_SYMBOLIZE_GEM_H

#include <stddef.h>

/*
 * Finds the gem to which a file belongs by its path:
 * Gem::Specification#full_name, which is the name of its folder in .../gems/
 * and .../extensions/PLATFORM/ABI/. Examples: "pg-1.5.4",
 * "nokogiri-1.16.0-x86_64-linux", "rails-0a1b2c3d4e5f" for a checkout of
 * Bundler's. Returns its length and sets its start in `path`; 0 if it is not in
 * a gem.
 */
size_t rcore_gem_of_path(const char *path, const char **start);

#endif
