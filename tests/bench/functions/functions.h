/* SPDX-License-Identifier: MIT */

/* DEPTH is how many frames the program has at least. */
enum { MARKED = 99, WRITE = 1, LABEL = 32, LABELS = 16 };

/* What is measured. CLOCK: reading the clock, which all others include. */
enum { CLOCK, LOOKUP, STACK, LABELLED, FUNCTIONS };
