/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_API_H
#define RCORE_BASE_API_H

/* Marks what librcore.so exports. librcore.map lists the same names. */
#define RCORE_API __attribute__((visibility("default")))

#endif
