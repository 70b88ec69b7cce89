/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_VERSION_H
#define RCORE_BASE_VERSION_H

#define RCORE_VERSION "0.1.0"

#endif
