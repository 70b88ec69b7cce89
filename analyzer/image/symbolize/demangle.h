/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_DEMANGLE_H
#define RCORE_IMAGE_DEMANGLE_H

/*
 * Returns the C++, Rust (both manglings) or D function that a linker's name
 * means, with its parameters: "void grow<int>(std::vector<int>&)". malloc'ed;
 * NULL if it is not such a name, or memory is short. Uses libiberty like gdb,
 * binutils and perf; its recursion on hostile names is limited.
 */
char *rcore_demangle(const char *symbol);

#endif
