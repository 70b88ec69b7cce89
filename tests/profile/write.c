/* SPDX-License-Identifier: MIT */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "profile/recording_writer.h"

/*
 *	write SEED FILE [hostile|unended|short|hour|wide|deep|gems|cluster|long|off-cpu|syscalls:NAME]
 *
 * Writes a recording that is drawn from SEED, and prints a line for each of its
 * samples: time, wall and CPU time, thread, fiber, state, what it waits for,
 * labels as key=value separated by commas, and the frames from the outermost,
 * each "label path line first_line kind" separated by tabs. Strings are in hex.
 *
 * `hostile` draws names that formats trip over, `unended` leaves out the end,
 * `short` and `hostile-short` write a second. `hour` writes an hour of a server
 * of 20 threads at 99 Hz, and prints how much memory that took, in KiB. `wide`
 * draws a different name for each frame. `deep` has one sample, of a recursion,
 * and prints nothing. `gems` puts some methods into a gem, and begins some stacks
 * with a script in bin/ that loads the program. `cluster` has three processes:
 * thread N belongs to 4242 + N % 3, and the last one ends. `long` draws long
 * names of characters of several bytes, and prints nothing. Other words are
 * events. One of the threads never has CPU time.
 */

enum { DEPTH = 12, METHODS = 40, THREADS = 6, SECONDS = 8, PER_SECOND = 100 };

static uint64_t state;

/* splitmix64 */
static uint64_t draw(uint64_t below)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % below;
}

static const char *const hostile_names[] = {
	"a;b",
	"x\ny",
	"tab\there",
	"<script>alert(1)</script>",
	"]]><svg onload=alert(1)>",
	"\"quoted\" & 'single'",
	"back\\slash",
	"\xff\xfe not UTF-8",
	"\xe2\x80\xae reversed",
	"\x1b[31mred",
	"caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac",
	"(1) name",
	"fn=(2)",
	"trailing space 42",
	" leading",
	"</style><!--",
	"${jndi}",
	"%s%n",
};
enum { HOSTILE = RCORE_COUNT(hostile_names) };

static bool is_hostile, is_wide, has_gems, is_cluster, is_long;
static char *large;

/* Each may be cut at any of its bytes. */
static const char *long_name(void)
{
	enum { LONGEST = 6000 };
	static const char *const characters[] = {"\xc3\xa9", "\xe6\x97\xa5",
						 "\xf0\x9f\x98\x80"};
	static char name[LONGEST + 8];
	const char *character = characters[draw(RCORE_COUNT(characters))];
	size_t length = draw(4), wanted = 20 + draw(draw(2) ? 600 : LONGEST - 20);
	memcpy(name, "abcd", length);
	for (; length < wanted; length += strlen(character))
		strcpy(name + length, character);
	return name;
}

static const char *method_name(uint64_t method)
{
	static char name[512];
	if (is_long)
		return long_name();
	for (size_t i = 0; is_wide && i < sizeof(name) - 1; i++)
		name[i] = (char)('!' + draw('~' - '!'));
	if (is_wide)
		return name;
	if (is_hostile && method < HOSTILE)
		return hostile_names[method];
	if (is_hostile && method == HOSTILE)
		return large;
	snprintf(name, sizeof(name), "Class%d#method%d", (int)method % 7, (int)method);
	return name;
}

static void print_hex(const char *text)
{
	for (; *text; text++)
		printf("%02x", (unsigned char)*text);
}

static uint32_t draw_function(struct rcore_profile *profile)
{
	/* Few are drawn often, so that there is recursion. */
	uint64_t method = draw(2) ? draw(6) : draw(METHODS);
	char path[64];
	snprintf(path, sizeof(path), "%slib/file%d.rb",
		 has_gems && method % 5 > 2 ? "vendor/gems/rack-3.1.0/" : "", (int)method % 5);
	const struct rcore_profile_function function = {
		.kind = method % 9 == 8 ? RCORE_FUNCTION_C : RCORE_FUNCTION_RUBY,
		.label = rcore_profile_string(profile, method_name(method)),
		.path = method % 9 == 8 ? 0 : rcore_profile_string(profile, path),
		.first_line = method % 9 == 8 ? 0 : (uint32_t)(method * 10 + 1),
	};
	return rcore_profile_function(profile, &function);
}

static uint32_t start(struct rcore_profile *profile)
{
	const struct rcore_profile_function functions[] = {
		{.kind = RCORE_FUNCTION_RUBY,
		 .label = rcore_profile_string(profile, "<main>"),
		 .path = rcore_profile_string(profile, "/usr/bin/rackup"),
		 .first_line = 1},
		{.kind = RCORE_FUNCTION_C,
		 .label = rcore_profile_string(profile, "Kernel#load")},
	};
	uint32_t node = 0;
	for (size_t i = 0; i < RCORE_COUNT(functions); i++) {
		uint32_t number = rcore_profile_function(profile, &functions[i]);
		uint32_t line = functions[i].first_line;
		node = rcore_profile_node(profile, node,
					  rcore_profile_frame(profile, number, line));
	}
	return node;
}

static uint32_t draw_stack(struct rcore_profile *profile)
{
	uint32_t node = has_gems && draw(2) ? start(profile) : 0;
	for (uint64_t depth = draw(DEPTH); depth; depth--) {
		uint32_t function = draw_function(profile);
		uint32_t first = rcore_profile_function_at(profile, function)->first_line;
		uint32_t line = first ? first + (uint32_t)draw(4) : 0;
		node = rcore_profile_node(profile, node,
					  rcore_profile_frame(profile, function, line));
	}
	return node;
}

static uint32_t draw_labels(struct rcore_profile *profile)
{
	char value[32];
	struct rcore_profile_label labels[2];
	snprintf(value, sizeof(value), "%d", (int)draw(5));
	labels[0].key = rcore_profile_string(profile, is_long ? long_name() : "request_id");
	labels[0].value = rcore_profile_string(profile, value);
	labels[1].key = rcore_profile_string(profile, is_hostile ? "te;n\nant" : "tenant");
	labels[1].value =
		rcore_profile_string(profile, is_long      ? long_name()
					      : is_hostile ? hostile_names[draw(HOSTILE)]
							   : "acme");
	return rcore_profile_labels(profile, labels, draw(3));
}

static void print_stack(const struct rcore_profile *profile, uint32_t node)
{
	uint32_t stack[DEPTH + 2];
	size_t depth = 0;
	for (; node; node = rcore_profile_node_at(profile, node)->parent)
		stack[depth++] = rcore_profile_node_at(profile, node)->frame;
	while (depth) {
		const struct rcore_profile_frame *frame =
			rcore_profile_frame_at(profile, stack[--depth]);
		const struct rcore_profile_function *function =
			rcore_profile_function_at(profile, frame->function);
		putchar('\t');
		print_hex(rcore_profile_text(profile, function->label));
		putchar(' ');
		print_hex(rcore_profile_text(profile, function->path));
		printf(" %u %u %s", frame->line, function->first_line,
		       rcore_function_kind_name(function->kind));
	}
}

static void print_sample(const struct rcore_profile *profile,
			 const struct rcore_profile_sample *sample)
{
	size_t count;
	if (is_long)
		return;
	const struct rcore_profile_state *found =
		rcore_profile_state_at(profile, sample->state);
	const struct rcore_profile_label *labels =
		rcore_profile_label_set(profile, sample->labels, &count);
	printf("%llu\t%llu\t%llu\t%s\t%s\t%s\t%s\t", (unsigned long long)sample->time,
	       (unsigned long long)sample->wall, (unsigned long long)sample->cpu,
	       rcore_profile_text(profile,
				  rcore_profile_thread_at(profile, sample->thread)->id),
	       rcore_profile_text(profile, rcore_profile_fiber_at(profile, sample->fiber)->id),
	       rcore_sample_state_name(found->kind), rcore_profile_text(profile, found->wait));
	for (size_t i = 0; i < count; i++) {
		if (i)
			putchar(',');
		print_hex(rcore_profile_text(profile, labels[i].key));
		putchar('=');
		print_hex(rcore_profile_text(profile, labels[i].value));
	}
	print_stack(profile, sample->node);
	putchar('\n');
}

/* Returns 0 unless there are several. */
static uint32_t process_of(struct rcore_profile *profile, uint32_t pid)
{
	static const char *const titles[] = {"puma 6.4.2 (tcp://0.0.0.0:3000) [shop]",
					     "puma: cluster worker 0: 4242 [shop]",
					     "puma: cluster worker 1: 4242 [shop]"};
	const struct rcore_profile_process process = {.pid = pid, .use = 1};
	bool has_processes = is_cluster || is_long;
	uint32_t number = has_processes ? rcore_profile_process(profile, &process) : 0;
	if (is_long)
		rcore_profile_set_title(profile, number,
					rcore_profile_string(profile, long_name()));
	if (is_cluster)
		rcore_profile_set_title(profile, number,
					rcore_profile_string(profile, titles[pid - 4242]));
	return number;
}

static uint32_t thread(struct rcore_profile *profile, uint32_t number)
{
	char id[16];
	uint32_t pid = is_cluster || is_long ? 4242 + number % 3 : 4242;
	snprintf(id, sizeof(id), "T%u", number);
	const struct rcore_profile_thread thread = {
		.pid = pid,
		.process = process_of(profile, pid),
		.tid = 4242 + number,
		.id = rcore_profile_string(profile, id),
		.name = rcore_profile_string(profile, is_long      ? long_name()
						      : number % 2 ? "worker"
								   : ""),
	};
	return rcore_profile_thread(profile, &thread);
}

static uint32_t fiber(struct rcore_profile *profile, uint32_t of, uint32_t number)
{
	char id[32];
	snprintf(id, sizeof(id), "T%u.F%u", of, number);
	const struct rcore_profile_fiber fiber = {
		.thread = thread(profile, of),
		.id = rcore_profile_string(profile, id),
	};
	return rcore_profile_fiber(profile, &fiber);
}

static uint32_t draw_state(struct rcore_profile *profile)
{
	static const char *const waits[] = {"mutex", "io", "sleep"};
	struct rcore_profile_state drawn = {.kind = (uint32_t)draw(RCORE_SAMPLE_STATES)};
	if (drawn.kind == RCORE_SAMPLE_BLOCKED)
		drawn.wait = rcore_profile_string(profile, waits[draw(3)]);
	return rcore_profile_state(profile, &drawn);
}

static void add_second(struct rcore_profile *profile, uint64_t begin)
{
	for (uint64_t tick = 0; tick < PER_SECOND; tick++) {
		uint64_t time = begin + tick * (1000000000 / PER_SECOND) + draw(1000000);
		for (uint32_t t = 1; t <= THREADS; t++) {
			struct rcore_profile_sample sample = {
				.time = time,
				.wall = 10000000 + draw(1000),
				.cpu = t == THREADS || draw(3) ? 0 : draw(10000000),
				.node = draw_stack(profile),
				.thread = thread(profile, t),
				.fiber = fiber(profile, t, (uint32_t)draw(3)),
				.state = draw_state(profile),
				.labels = draw_labels(profile),
				.count = 1,
			};
			rcore_profile_sample(profile, &sample);
			print_sample(profile, &sample);
		}
	}
}

/*
 * A second of a program of 20 threads, as a server has them: two run through
 * many stacks and requests, the others wait.
 */
static void add_busy_second(struct rcore_profile *profile, uint64_t begin)
{
	enum { HERTZ = 99, ALL = 20, BUSY = 2 };
	char request[32];
	uint64_t last = begin;
	uint32_t frame = rcore_profile_frame(profile, draw_function(profile), 7);
	uint32_t waiting = rcore_profile_node(profile, 0, frame);
	for (uint64_t tick = 0; tick < HERTZ; tick++) {
		uint64_t time = begin + tick * (1000000000 / HERTZ) + draw(5000000);
		for (uint32_t t = 1; t <= ALL; t++) {
			bool is_busy = t <= BUSY;
			const struct rcore_profile_state waits = {
				.kind = is_busy ? RCORE_SAMPLE_RUNNING : RCORE_SAMPLE_BLOCKED,
				.wait = rcore_profile_string(profile, is_busy ? "" : "pop"),
			};
			snprintf(request, sizeof(request), "%016llx",
				 (unsigned long long)(begin / 100000000 + t));
			const struct rcore_profile_label label = {
				rcore_profile_string(profile, "request_id"),
				rcore_profile_string(profile, request)};
			const struct rcore_profile_sample sample = {
				.time = time,
				.wall = time - last,
				.cpu = is_busy ? draw(10000000) : 0,
				.node = is_busy ? draw_stack(profile) : waiting,
				.thread = thread(profile, t),
				.fiber = fiber(profile, t, 0),
				.state = rcore_profile_state(profile, &waits),
				.labels = rcore_profile_labels(profile, &label, is_busy),
				.count = 1,
			};
			rcore_profile_sample(profile, &sample);
		}
		last = time;
	}
}

/* More frames than a page shows, all of which are equally wide. */
static void add_recursion(struct rcore_profile *profile)
{
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_RUBY,
		.label = rcore_profile_string(profile, "f"),
		.path = rcore_profile_string(profile, "f.rb"),
		.first_line = 1,
	};
	uint32_t number = rcore_profile_function(profile, &function);
	uint32_t frame = rcore_profile_frame(profile, number, 2);
	struct rcore_profile_sample sample = {
		.wall = 10000000,
		.cpu = 10000000,
		.thread = thread(profile, 1),
		.fiber = fiber(profile, 1, 0),
		.state = draw_state(profile),
		.count = 1,
	};
	for (int depth = 0; depth < 3100; depth++)
		sample.node = rcore_profile_node(profile, sample.node, frame);
	rcore_profile_sample(profile, &sample);
}

/*
 * The most memory that this program had, in KiB. getrusage() would also count
 * that of the process from which it was forked.
 */
static void print_memory(void)
{
	char line[256];
	long peak = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %ld kB", &peak) == 1)
			break;
	if (status)
		fclose(status);
	printf("%ld\n", peak);
}

static void check(struct rcore_error *error)
{
	if (error)
		errx(1, "%s", error->message);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(64, "usage: write SEED FILE [KIND]");
	const char *kind = argc > 3 ? argv[3] : "";
	struct rcore_recording_writer *writer;
	struct rcore_profile *profile = rcore_profile_new();
	size_t size = 1 << 20;
	state = strtoull(argv[1], NULL, 10);
	is_hostile = strncmp(kind, "hostile", 7) == 0;
	is_wide = strcmp(kind, "wide") == 0;
	has_gems = strcmp(kind, "gems") == 0;
	is_cluster = strcmp(kind, "cluster") == 0;
	bool is_event = strcmp(kind, "off-cpu") == 0 || strncmp(kind, "syscalls:", 9) == 0;
	large = malloc(size + 1);
	int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || !profile || !large)
		err(1, "%s", argv[2]);
	memset(large, 'm', size);
	large[size] = '\0';
	check(rcore_recording_writer_new(fd, &writer));
	check(rcore_recording_writer_fact(writer, "rate", "99"));
	check(rcore_recording_writer_fact(writer, "pid", "4242"));
	check(rcore_recording_writer_fact(writer, "command", "ruby app.rb --token=hunter2"));
	if (is_hostile)
		check(rcore_recording_writer_fact(writer, "started", "1e300"));
	is_long = strcmp(kind, "long") == 0;
	if (is_long)
		check(rcore_recording_writer_fact(writer, "command", long_name()));
	if (is_event)
		check(rcore_recording_writer_fact(writer, "event", kind));
	bool is_hour = strcmp(kind, "hour") == 0;
	bool is_deep = strcmp(kind, "deep") == 0;
	bool is_short = is_event || is_deep || is_long || strstr(kind, "short");
	uint64_t seconds = is_hour ? 3600 : is_short ? 1 : SECONDS;
	for (uint64_t second = 0; second < seconds; second++) {
		if (is_deep)
			add_recursion(profile);
		else if (is_hour)
			add_busy_second(profile, second * 1000000000);
		else
			add_second(profile, second * 1000000000 + 20000000);
		if (is_cluster && second + 2 == seconds)
			rcore_profile_end_process(profile, process_of(profile, 4244),
						  (second + 1) * 1000000000);
		check(rcore_recording_writer_flush(writer, profile));
		/* Tables may begin anew at any block. */
		if (second % 7 == 6 && !is_hour)
			rcore_profile_clear(profile);
	}
	if (strcmp(kind, "unended") != 0)
		check(rcore_recording_writer_end(writer, profile));
	rcore_recording_writer_free(writer);
	rcore_profile_free(profile);
	close(fd);
	if (is_hour)
		print_memory();
	return 0;
}
