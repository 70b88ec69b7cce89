/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_DEBUG_SECTIONS_H
#define RCORE_IMAGE_DEBUG_SECTIONS_H

#include <elfutils/libdwfl.h>

/*
 * Hides from libdw the sections of DWARF that names and lines do not need. When
 * libdw opens a file, it decompresses every section that it knows, which takes
 * most of the time of a small report: distributions compress debug files. Call
 * it before the first dwfl_module_getdwarf() of the module.
 */
void rcore_debug_sections_hide(Dwfl_Module *module);

/*
 * Inflates the other sections faster than libdw does. Only in a helper, see
 * image/symbolize/inflate_section.h.
 */
void rcore_debug_sections_inflate(Dwfl_Module *module);

#endif
