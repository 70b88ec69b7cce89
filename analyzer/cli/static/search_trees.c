/* SPDX-License-Identifier: MIT */
#include <search.h>
#include <stddef.h>

/*
 * The libelf.a and libdw.a of elfutils 0.192 (Debian 13) call these functions,
 * but lack them: their object is in libeu.a, which is not installed
 * (bug 32293 of elfutils, mended in 0.193). In the static command, they
 * come from here (mk/static.mk) if the archives have none. The trees are those
 * of tsearch(3); without --enable-thread-safety, which no distribution uses,
 * elfutils locks none.
 */
struct tree {
	void *root; /* elfutils' own struct may go on with a lock */
};

typedef int compare_function(const void *, const void *);
typedef void free_function(void *);

void *eu_tsearch(const void *key, struct tree *tree, compare_function *compare);
void *eu_tfind(const void *key, struct tree *tree, compare_function *compare);
void *eu_tdelete(const void *key, struct tree *tree, compare_function *compare);
void eu_tdestroy(struct tree *tree, free_function *free_node);
void eu_search_tree_init(struct tree *tree);
void eu_search_tree_fini(struct tree *tree, free_function *free_node);

void *eu_tsearch(const void *key, struct tree *tree, compare_function *compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, struct tree *tree, compare_function *compare)
{
	return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct tree *tree, compare_function *compare)
{
	return tdelete(key, &tree->root, compare);
}

void eu_tdestroy(struct tree *tree, free_function *free_node)
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void eu_search_tree_init(struct tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct tree *tree, free_function *free_node)
{
	eu_tdestroy(tree, free_node);
}
