/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_FLAME_LAYOUT_H
#define RCORE_REPORT_PROFILE_FLAME_LAYOUT_H

#include "report/profile/profile_report.h"

/*
 * Where the frames of a flame graph are, and their colors; flame.c writes it as
 * an image, page.c as a part of a page. Frames are as wide as their time, with
 * callers above callees, side by side.
 */

enum { RCORE_FLAME_WIDTH = 1200 };

/*
 * Narrower frames are left out. It is a share of the whole: a tenth of a pixel.
 */
#define RCORE_FLAME_LEAST (0.1 / RCORE_FLAME_WIDTH)

struct rcore_flame {
	const struct rcore_profile_report *report;
	struct rcore_tree *tree;
	double *left; /* where each node begins, as a share */
	bool *is_shown;
	uint64_t whole; /* the total width */
	uint64_t least; /* the width that a frame needs to be shown */
	size_t equal;   /* how many more frames of just this width fit */
	uint64_t most;  /* the largest change of a node, with --diff */
	uint32_t depth; /* of the visible frames */
	size_t narrow;  /* number of frames that are left out */
};

/* Shows at most `limit` frames, the widest ones; 0: all. Error: NO_MEMORY. */
struct rcore_error *rcore_flame_init(const struct rcore_profile_report *report, size_t limit,
				     struct rcore_flame *ret);
void rcore_flame_deinit(struct rcore_flame *flame);

/* Returns the width of a node as a share of the whole. */
double rcore_flame_share(const struct rcore_flame *flame, uint32_t node);
int64_t rcore_flame_change(const struct rcore_flame *flame, uint32_t node);
const char *rcore_flame_name(const struct rcore_flame *flame, uint32_t node);
/* Writes the color of a node for SVG and CSS: "hsl(12,85%,70%)". */
void rcore_flame_write_color(const struct rcore_flame *flame, uint32_t node, FILE *out);

#endif
