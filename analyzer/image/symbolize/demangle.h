/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_DEMANGLE_H
#define RCORE_IMAGE_DEMANGLE_H

/*
 * What a linker's name of a C++, Rust (both manglings) or D function stands
 * for, with its parameters: "void grow<int>(std::vector<int>&)". malloc'ed;
 * NULL: it is no such name, or memory is short. By libiberty, as gdb, binutils
 * and perf do it; its recursion on hostile names is limited.
 */
char *rcore_demangle(const char *symbol);

#endif
