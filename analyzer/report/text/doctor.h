/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_DOCTOR_H
#define RCORE_REPORT_DOCTOR_H

#include "model/snapshot.h"
#include "report/text/style.h"

/*
 * The part of rcore_report_doctor() on files: each with its build-id and
 * whether it is here, what is lost without those that are not, and what to do
 * about them.
 */
void rcore_doctor_modules(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot);

#endif
