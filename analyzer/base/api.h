/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_API_H
#define RCORE_BASE_API_H

/* What librcore.so shows; all else in it is hidden. */
#define RCORE_API __attribute__((visibility("default")))

#endif
