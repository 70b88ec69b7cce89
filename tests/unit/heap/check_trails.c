/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "heap/duplicates.h"
#include "heap/trails.h"
#include "random_heap.h"
#include "suite.h"

/* Classes, by their common numbers. */
enum { APP, LIST, ORDER, TEXT, ITEM, NODE };

/* Common numbers of names. */
enum { NONE, APPLICATION, CACHE, TITLE, NEXT };

/* What one heap holds; where it is differs from heap to heap. */
struct content {
	uint32_t orders;  /* each with a title and `items` items */
	uint32_t lists;   /* of orders */
	uint32_t garbage; /* unreachable orders */
	uint32_t items;
};

struct drawn {
	struct heap_builder builder;
	struct rcore_heap_paths paths;
	uint32_t *klass, *place, *trail;
	uint32_t used;
	uint32_t names[8];
};

static uint64_t seed;

static void shuffle(uint32_t *numbers, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t other = random_below(&seed, i), number = numbers[i - 1];
		numbers[i - 1] = numbers[other];
		numbers[other] = number;
	}
}

static uint32_t add(struct drawn *drawn, uint32_t klass)
{
	uint32_t node = drawn->place[drawn->used++];
	drawn->klass[node] = klass;
	return node;
}

/* A name has another index in each heap. */
static uint32_t label(struct drawn *drawn, enum rcore_edge_kind kind, uint32_t name)
{
	for (uint32_t i = 0; i < RCORE_COUNT(drawn->names); i++)
		if (drawn->names[i] == name)
			return rcore_edge_label(kind, i);
	abort();
}

static void add_order(struct drawn *drawn, uint32_t list, uint32_t index,
		      const struct content *content)
{
	struct heap_builder *builder = &drawn->builder;
	uint32_t order = add(drawn, ORDER), title = add(drawn, TEXT);
	if (list != RCORE_HEAP_NONE)
		heap_builder_edge(builder, list, order,
				  rcore_edge_label(RCORE_EDGE_ELEMENT, index));
	heap_builder_edge(builder, order, title, label(drawn, RCORE_EDGE_IVAR, TITLE));
	for (uint32_t i = 0; i < content->items; i++)
		heap_builder_edge(builder, order, add(drawn, ITEM),
				  rcore_edge_label(RCORE_EDGE_ELEMENT, i));
}

static void draw(struct drawn *drawn, const struct content *content)
{
	uint32_t each = 2 + content->items;
	uint32_t nodes = 1 + content->lists + (content->orders + content->garbage) * each;
	memset(drawn, 0, sizeof(*drawn));
	struct heap_builder *builder = &drawn->builder;
	heap_builder_init(builder, nodes, 100 + random_below(&seed, 1000));
	drawn->klass = rcore_calloc(nodes, sizeof(*drawn->klass));
	drawn->place = rcore_calloc(nodes, sizeof(*drawn->place));
	drawn->trail = rcore_calloc(nodes, sizeof(*drawn->trail));
	ck_assert(drawn->klass && drawn->place && drawn->trail);
	for (uint32_t i = 0; i < nodes; i++) {
		drawn->place[i] = i;
		builder->heap.extra[i] = 0;
	}
	builder->heap.large_count = 0;
	for (uint32_t i = 0; i < RCORE_COUNT(drawn->names); i++)
		drawn->names[i] = i;
	shuffle(drawn->place, nodes);
	/* The builder gives the first one to $app. */
	shuffle(drawn->names + 2, RCORE_COUNT(drawn->names) - 2);
	uint32_t app = add(drawn, APP), *lists = rcore_calloc(content->lists, sizeof(*lists));
	ck_assert_ptr_nonnull(lists);
	for (uint32_t i = 0; i < content->lists; i++) {
		lists[i] = add(drawn, LIST);
		heap_builder_edge(builder, app, lists[i], label(drawn, RCORE_EDGE_IVAR, CACHE));
	}
	for (uint32_t i = 0; i < content->orders; i++)
		add_order(drawn, lists[random_below(&seed, content->lists)], i, content);
	for (uint32_t i = 0; i < content->garbage; i++)
		add_order(drawn, RCORE_HEAP_NONE, i, content);
	free(lists);
	heap_builder_root(builder, app, RCORE_ROOT_GLOBAL, "$app");
	for (uint32_t i = 2; i < RCORE_COUNT(drawn->names); i++)
		heap_builder_root(builder, app, RCORE_ROOT_VM, (char[]){(char)('a' + i), 0});
	heap_builder_finish(builder);
	builder->heap.root_count = 1;
	ck_assert_ptr_null(rcore_heap_paths_init(&builder->heap, &drawn->paths));
}

static void drawn_deinit(struct drawn *drawn)
{
	rcore_heap_paths_deinit(&drawn->paths);
	heap_builder_deinit(&drawn->builder);
	free(drawn->klass);
	free(drawn->place);
	free(drawn->trail);
}

static void add_side(struct rcore_trails *trails, const struct content *content, unsigned side)
{
	struct drawn drawn;
	draw(&drawn, content);
	const struct rcore_trail_heap heap = {&drawn.paths, drawn.klass, drawn.names};
	ck_assert_ptr_null(rcore_trails_add(trails, &heap, side, NULL));
	drawn_deinit(&drawn);
}

/* Whether a trail is one of orders: $app, @cache, an element. */
static void check_orders(const struct rcore_trails *trails, uint32_t trail)
{
	const struct rcore_trail *order = &trails->items[trail];
	ck_assert_uint_eq(order->klass, ORDER);
	ck_assert_uint_eq(order->step, rcore_edge_label(RCORE_EDGE_ELEMENT, 0));
	const struct rcore_trail *list = &trails->items[order->before];
	ck_assert_uint_eq(list->klass, LIST);
	ck_assert_uint_eq(list->step, rcore_edge_label(RCORE_EDGE_IVAR, CACHE));
	const struct rcore_trail *app = &trails->items[list->before];
	ck_assert_uint_eq(app->klass, APP);
	ck_assert_uint_eq(app->before, RCORE_HEAP_NONE);
}

START_TEST(planted_objects_are_found)
{
	enum { GARBAGE = 50000 }; /* orders, of four objects each */
	seed = random_seed();
	uint32_t planted = 1 + random_below(&seed, 5000), items = random_below(&seed, 3);
	const struct content before = {1000, 3, random_below(&seed, GARBAGE), items};
	const struct content after = {1000 + planted, 3, GARBAGE, items};
	struct rcore_trails trails = {0};
	struct rcore_growths growths;
	add_side(&trails, &before, 0);
	add_side(&trails, &after, 1);
	ck_assert_ptr_null(rcore_trails_growth(&trails, 2, &growths));
	ck_assert_uint_eq(growths.count, 1);
	ck_assert_uint_eq(growths.items[0].count, planted);
	ck_assert_uint_eq(growths.items[0].followers, items ? 2 : 1);
	check_orders(&trails, growths.items[0].trail);
	free(growths.items);
	ck_assert_ptr_null(rcore_trails_growth(&trails, 1, &growths));
	ck_assert_uint_eq(growths.count, 0);
	free(growths.items);
	rcore_trails_deinit(&trails);
}
END_TEST

START_TEST(a_third_heap_confirms)
{
	seed = random_seed();
	struct rcore_trails trails = {0};
	struct rcore_growths growths;
	add_side(&trails, &(struct content){100, 2, 5000, 1}, 0);
	add_side(&trails, &(struct content){300, 2, 100, 1}, 1);
	add_side(&trails, &(struct content){350, 2, 9000, 1}, 2);
	ck_assert_ptr_null(rcore_trails_growth(&trails, 3, &growths));
	ck_assert_uint_eq(growths.count, 1);
	ck_assert_uint_eq(growths.items[0].count, 250);
	check_orders(&trails, growths.items[0].trail);
	free(growths.items);
	rcore_trails_deinit(&trails);

	add_side(&trails, &(struct content){100, 2, 10, 1}, 0);
	add_side(&trails, &(struct content){300, 2, 10, 1}, 1);
	add_side(&trails, &(struct content){300, 2, 500, 1}, 2);
	ck_assert_ptr_null(rcore_trails_growth(&trails, 3, &growths));
	ck_assert_uint_eq(growths.count, 0);
	free(growths.items);
	rcore_trails_deinit(&trails);
}
END_TEST

/* A list that grows shows how much, though its parents are new, too. */
START_TEST(a_parent_explains_its_own_children_only)
{
	seed = random_seed();
	struct rcore_trails trails = {0};
	struct rcore_growths growths;
	add_side(&trails, &(struct content){100, 2, 0, 0}, 0);
	add_side(&trails, &(struct content){5000, 3, 0, 0}, 1);
	ck_assert_ptr_null(rcore_trails_growth(&trails, 2, &growths));
	ck_assert_uint_eq(growths.count, 2);
	ck_assert_uint_eq(growths.items[0].count, 4900);
	check_orders(&trails, growths.items[0].trail);
	ck_assert_uint_eq(growths.items[1].count, 1);
	free(growths.items);
	rcore_trails_deinit(&trails);
}
END_TEST

/* A heap of one shape, and its trails. */
struct shape {
	struct heap_builder builder;
	struct rcore_heap_paths paths;
	struct rcore_trails trails;
	uint32_t *klass;
};

static void begin_shape(struct shape *shape, uint32_t nodes)
{
	*shape = (struct shape){.klass = rcore_calloc(nodes, sizeof(*shape->klass))};
	ck_assert_ptr_nonnull(shape->klass);
	heap_builder_init(&shape->builder, nodes, 400);
}

/* Makes a list: each node refers to the next one. */
static void link_nodes(struct shape *shape, uint32_t nodes)
{
	for (uint32_t i = 1; i < nodes; i++)
		heap_builder_edge(&shape->builder, i - 1, i,
				  rcore_edge_label(RCORE_EDGE_IVAR, 1));
}

static void find_trails(struct shape *shape)
{
	static const uint32_t names[2] = {0, NEXT};
	heap_builder_root(&shape->builder, 0, RCORE_ROOT_GLOBAL, "$list");
	heap_builder_finish(&shape->builder);
	ck_assert_ptr_null(rcore_heap_paths_init(&shape->builder.heap, &shape->paths));
	const struct rcore_trail_heap heap = {&shape->paths, shape->klass, names};
	ck_assert_ptr_null(rcore_trails_add(&shape->trails, &heap, 0, NULL));
}

static void end_shape(struct shape *shape)
{
	rcore_trails_deinit(&shape->trails);
	rcore_heap_paths_deinit(&shape->paths);
	heap_builder_deinit(&shape->builder);
	free(shape->klass);
}

START_TEST(lists_are_folded)
{
	enum { LENGTH = 100000 };
	struct shape shape;
	begin_shape(&shape, LENGTH);
	for (uint32_t i = 0; i < LENGTH; i++)
		shape.klass[i] = i % 2 ? NODE : LIST;
	link_nodes(&shape, LENGTH);
	find_trails(&shape);
	ck_assert_uint_eq(shape.trails.count, 3);
	ck_assert_uint_eq(shape.trails.items[1].sides[0].count, LENGTH / 2);
	ck_assert_uint_eq(shape.trails.items[2].sides[0].count, LENGTH / 2 - 1);
	end_shape(&shape);
}
END_TEST

/* Takes minutes if each element is searched among the others. */
START_TEST(elements_of_a_long_array_are_one_trail)
{
	enum { LENGTH = 1 << 20 };
	struct shape shape;
	begin_shape(&shape, LENGTH + 1);
	shape.klass[0] = LIST;
	for (uint32_t i = 1; i <= LENGTH; i++) {
		shape.klass[i] = ITEM;
		heap_builder_edge(&shape.builder, 0, i,
				  rcore_edge_label(RCORE_EDGE_ELEMENT, i - 1));
	}
	find_trails(&shape);
	ck_assert_uint_eq(shape.trails.count, 2);
	ck_assert_uint_eq(shape.trails.items[1].sides[0].count, LENGTH);
	end_shape(&shape);
}
END_TEST

/* A chain of classes that do not repeat, or only much later. */
START_TEST(long_trails_are_cut)
{
	enum { LENGTH = 20000, FAR = 100 };
	for (int repeats = 0; repeats < 2; repeats++) {
		struct shape shape;
		uint64_t count = 0;
		begin_shape(&shape, LENGTH);
		for (uint32_t i = 0; i < LENGTH; i++)
			shape.klass[i] = repeats ? i % FAR : i;
		link_nodes(&shape, LENGTH);
		find_trails(&shape);
		ck_assert_uint_eq(shape.trails.count, RCORE_TRAIL_DEPTH);
		ck_assert(shape.trails.is_cut == !repeats);
		for (size_t i = 0; i < shape.trails.count; i++) {
			ck_assert_uint_eq(shape.trails.items[i].depth, i + 1);
			count += shape.trails.items[i].sides[0].count;
		}
		ck_assert_uint_eq(count, LENGTH);
		end_shape(&shape);
	}
}
END_TEST

START_TEST(each_reachable_object_is_on_one_trail)
{
	enum { GRAPHS = 300, MOST = 60 };
	seed = random_seed();
	for (int i = 0; i < GRAPHS; i++) {
		struct heap_builder builder;
		struct rcore_heap_paths paths;
		struct rcore_trails trails = {0};
		uint32_t klass[MOST], trail[MOST], names[MOST] = {0};
		uint64_t count = 0, bytes = 0, own = 0;
		heap_builder_draw(&builder, &seed, MOST);
		for (uint32_t node = 0; node < MOST; node++)
			klass[node] = random_below(&seed, 4);
		ck_assert_ptr_null(rcore_heap_paths_init(&builder.heap, &paths));
		const struct rcore_trail_heap heap = {&paths, klass, names};
		ck_assert_ptr_null(rcore_trails_add(&trails, &heap, 2, trail));
		for (size_t t = 0; t < trails.count; t++) {
			count += trails.items[t].sides[2].count;
			bytes += trails.items[t].sides[2].bytes;
			ck_assert(trails.items[t].before == RCORE_HEAP_NONE ||
				  trails.items[t].before < t);
		}
		for (uint32_t n = 0; n < paths.count; n++) {
			own += rcore_heap_bytes(&builder.heap, paths.order[n]);
			ck_assert_uint_eq(trails.items[trail[paths.order[n]]].klass,
					  klass[paths.order[n]]);
		}
		ck_assert_uint_eq(count, paths.count);
		ck_assert_uint_eq(bytes, own);
		rcore_trails_deinit(&trails);
		rcore_heap_paths_deinit(&paths);
		heap_builder_deinit(&builder);
	}
}
END_TEST

START_TEST(duplicates_are_all)
{
	enum { CONTENTS = 500, DIFFERENT = 40, ROUNDS = 50 };
	seed = random_seed();
	for (int round = 0; round < ROUNDS; round++) {
		struct heap_builder builder;
		struct rcore_content contents[CONTENTS];
		struct rcore_duplicates found;
		uint64_t sum[DIFFERENT] = {0}, least[DIFFERENT] = {0}, wasted = 0;
		uint32_t times[DIFFERENT] = {0}, several = 0;
		heap_builder_init(&builder, CONTENTS, 10);
		heap_builder_finish(&builder);
		for (uint32_t i = 0; i < CONTENTS; i++) {
			uint32_t which = random_below(&seed, DIFFERENT);
			uint64_t bytes = rcore_heap_bytes(&builder.heap, i);
			contents[i] = (struct rcore_content){{which, which % 2}, i};
			least[which] =
				times[which] && least[which] < bytes ? least[which] : bytes;
			times[which]++;
			sum[which] += bytes;
		}
		for (uint32_t i = 0; i < DIFFERENT; i++) {
			several += times[i] > 1;
			wasted += times[i] > 1 ? sum[i] - least[i] : 0;
		}
		ck_assert_ptr_null(
			rcore_duplicates_find(&builder.heap, contents, CONTENTS, &found));
		ck_assert_uint_eq(found.count, several);
		ck_assert_uint_eq(found.wasted, wasted);
		for (size_t i = 0; i < found.count; i++) {
			uint64_t which = contents[found.items[i].first].hash[0];
			ck_assert_uint_eq(found.items[i].count, times[which]);
			ck_assert_uint_eq(found.items[i].bytes, sum[which]);
			if (i)
				ck_assert_uint_ge(found.items[i - 1].wasted,
						  found.items[i].wasted);
		}
		free(found.items);
		heap_builder_deinit(&builder);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {planted_objects_are_found,
				      a_third_heap_confirms,
				      a_parent_explains_its_own_children_only,
				      lists_are_folded,
				      elements_of_a_long_array_are_one_trail,
				      long_trails_are_cut,
				      each_reachable_object_is_on_one_trail,
				      duplicates_are_all};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "trails", .tests = tests, .count = RCORE_COUNT(tests), .timeout = 60});
}
