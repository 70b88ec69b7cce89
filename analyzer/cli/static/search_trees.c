/* SPDX-License-Identifier: MIT */
#include <search.h>
#include <stddef.h>

/*
 * libelf.a and libdw.a of elfutils 0.192 (Debian 13) call these functions but
 * do not contain them. They are in libeu.a, which is not installed (elfutils
 * bug 32293, fixed in 0.193). If the archives lack them, the static command
 * takes them from here (mk/static.mk). As in elfutils, the trees are those of
 * tsearch(3). elfutils locks them only if it is built with
 * --enable-thread-safety, which no distribution uses.
 */
struct tree {
	void *root; /* in elfutils, a lock may follow */
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
