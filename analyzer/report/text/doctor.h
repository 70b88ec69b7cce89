/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_DOCTOR_H
#define RCORE_REPORT_DOCTOR_H

#include "model/snapshot.h"
#include "report/text/style.h"

/*
 * Writes the part of rcore_report_doctor() about files: each with its build-id
 * and whether it exists here, what is unknown without the missing ones, and how
 * to get them.
 */
void rcore_doctor_modules(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

#endif
