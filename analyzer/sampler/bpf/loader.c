/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/text.h"
#include "sampler/bpf/engine.h"
#include "sampler/bpf/sample.skel.h"
#include "target/process.h"

/*
 * Most records with machine stacks have up to 100 KiB, those without up to 10
 * KiB. The largest possible record has some 325 KiB.
 */
enum { NATIVE_RING_BYTES = 32 << 20 };

struct rcore_bpf {
	struct sample *skeleton;
	struct ring_buffer *ring;
	struct bpf_program *program; /* of the event */
	/*
	 * By processor (NULL: offline), or by function. A tracepoint has only
	 * the first.
	 */
	struct bpf_link **links;
	size_t link_count;
	int count; /* of processors */
	bool (*each)(const struct rcore_bpf_record *record, size_t size, void *context);
	void *context;
};

/* rcore reports errors itself, in one line. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

/* Adds sizes to *end. Returns false if it would exceed `size`. */
static bool fit(const uint64_t *sizes, size_t count, size_t size, size_t *end)
{
	for (size_t i = 0; i < count; i++) {
		if (size < *end || size - *end < sizes[i])
			return false;
		*end += sizes[i];
	}
	return true;
}

/* Called by libbpf for each record. Skips records that are malformed. */
static int receive(void *context, void *data, size_t size)
{
	struct rcore_bpf *bpf = context;
	const struct rcore_bpf_record *record = data;
	size_t head = offsetof(struct rcore_bpf_record, slots);
	if (size == RCORE_BPF_HEAD &&
	    (record->kind == RCORE_BPF_RETURNED || record->kind == RCORE_BPF_ENDED))
		return bpf->each(record, size, bpf->context) ? 0 : -ECANCELED;
	if (size < head || record->kind == RCORE_BPF_RETURNED ||
	    record->kind == RCORE_BPF_ENDED || record->string_count > RCORE_BPF_STRINGS)
		return 0;
	const uint64_t first[] = {rcore_bpf_before_frames(record) - head, record->frame_bytes,
				  record->value_bytes, record->machine_bytes};
	if (!fit(first, RCORE_COUNT(first), size, &head))
		return 0;
	const struct rcore_bpf_machine *machine = rcore_bpf_machine(record);
	const uint64_t others[] = {machine ? machine->parts[RCORE_BPF_INNER].bytes : 0,
				   machine ? machine->parts[RCORE_BPF_OUTER].bytes : 0,
				   record->kernel_count * sizeof(uint64_t)};
	if (record->kernel_count > RCORE_BPF_KERNEL_MAX ||
	    (machine && record->machine_bytes != sizeof(*machine)) ||
	    !fit(others, RCORE_COUNT(others), size, &head))
		return 0;
	return bpf->each(record, size, bpf->context) ? 0 : -ECANCELED;
}

/* Returns the error for what the kernel refused. `number` is an errno. */
static struct rcore_error *refused(int number, const char *what)
{
	if (number == EPERM || number == EACCES)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "the kernel does not allow it (%s: %s); run rcore as "
					  "root, or give it CAP_BPF and CAP_PERFMON",
					  what, strerror(number));
	return rcore_error_create(
		number == ENOMEM ? RCORE_ERROR_NO_MEMORY : RCORE_ERROR_UNSUPPORTED,
		"the kernel does not support it (%s: %s)", what, strerror(number));
}

/*
 * Returns the line of the verifier's log that says why it refuses a program. It
 * is the last one before the statistics. Changes the log.
 */
static const char *reason_in(char *log)
{
	char *counts = strstr(log, "\nprocessed ");
	if (!counts)
		return NULL;
	*counts = '\0';
	char *line = strrchr(log, '\n');
	return line ? line + 1 : log;
}

/*
 * Loads the program. If rcore may load programs but the verifier rejects this
 * one, that is a bug of rcore, and the message says so.
 */
static struct rcore_error *load(struct rcore_bpf *bpf)
{
	enum { LOG_SIZE = 256 << 10 };
	char *log = calloc(1, LOG_SIZE);
	if (!log)
		return rcore_error_no_memory();
	bpf_program__set_log_buf(bpf->program, log, LOG_SIZE);
	int failure = -sample__load(bpf->skeleton);
	/* Only the verifier writes a log. */
	bool is_verified = failure && failure != EPERM && failure != ENOMEM && *log;
	bpf_program__set_log_buf(bpf->program, NULL, 0);
	struct rcore_error *err = NULL;
	char text[160];
	if (failure && access("/sys/kernel/btf/vmlinux", R_OK)) {
		err = refused(errno, "/sys/kernel/btf/vmlinux");
	} else if (failure && !is_verified) {
		err = refused(failure, "loading the program");
	} else if (failure) {
		const char *reason = reason_in(log);
		err = rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"the kernel's verifier refuses rcore's program (%s); please "
			"report this with the output of `uname -a`",
			rcore_escape(text, sizeof(text), reason ? reason : strerror(failure)));
	}
	free(log);
	return err;
}

/* Chooses the program of an event; the others are not loaded. */
static void choose(struct rcore_bpf *bpf, enum rcore_bpf_event event)
{
	struct bpf_program *const programs[] = {
		[RCORE_BPF_EVENT_CPU] = bpf->skeleton->progs.rcore_sample,
		[RCORE_BPF_EVENT_OFF_CPU] = bpf->skeleton->progs.rcore_switch,
		[RCORE_BPF_EVENT_CALLS] = bpf->skeleton->progs.rcore_call,
		[RCORE_BPF_EVENT_FUNCTIONS] = bpf->skeleton->progs.rcore_function,
	};
	for (size_t i = 0; i < RCORE_COUNT(programs); i++)
		bpf_program__set_autoload(programs[i], i == event);
	bpf->program = programs[event];
}

/*
 * Lets the program copy registers and machine stacks. Returns false if the
 * kernel does not let it.
 */
static bool choose_native(struct rcore_bpf *bpf)
{
	enum bpf_prog_type type = bpf_program__type(bpf->program);
	/* pt_regs ends before the segments; on aarch64 it has all registers. */
#ifdef __aarch64__
	const unsigned machine = EM_AARCH64, count = RCORE_BPF_REGISTERS;
#else
	const unsigned machine = EM_X86_64, count = 21;
#endif
	bpf->skeleton->rodata->native = true;
	bpf_map__set_max_entries(bpf->skeleton->maps.records, NATIVE_RING_BYTES);
	bpf->skeleton->rodata->register_bytes = count * sizeof(uint64_t);
	bpf->skeleton->rodata->register_sp = (uint32_t)rcore_register_sp(machine);
	/* Negative: it is not known, because rcore may not load any program. */
	return libbpf_probe_bpf_helper(type, BPF_FUNC_task_pt_regs, NULL) != 0;
}

static struct rcore_error *attach_tracepoint(struct rcore_bpf *bpf, const char *name)
{
	bpf->links[0] = bpf_program__attach_raw_tracepoint(bpf->program, name);
	return bpf->links[0] ? NULL : refused(errno, "attaching the program");
}

/* Sets a uprobe at each function, in all processes that map its file. */
static struct rcore_error *attach_functions(struct rcore_bpf *bpf,
					    const struct rcore_bpf_options *options)
{
	char file[256], name[256];
	for (size_t i = 0; i < options->function_count; i++) {
		const struct rcore_bpf_function *function = &options->functions[i];
		const struct bpf_uprobe_opts how = {
			.sz = sizeof(how), .func_name = function->name, .bpf_cookie = i};
		bpf->links[i] = bpf_program__attach_uprobe_opts(bpf->program, -1,
								function->file, 0, &how);
		if (bpf->links[i])
			continue;
		int number = errno;
		if (number != ENOENT && number != ESRCH)
			return refused(number, "uprobe");
		return rcore_error_create(
			RCORE_ERROR_OS,
			"no library or program '%s' has a function '%s' (one of the "
			"ifunc kind, such as strlen, cannot be recorded)",
			rcore_escape(file, sizeof(file), function->file),
			rcore_escape(name, sizeof(name), function->name));
	}
	return NULL;
}

/*
 * Opens a perf event on each processor instead of for each thread, so that new
 * threads are sampled from their start.
 */
static struct rcore_error *attach_perf_events(struct rcore_bpf *bpf, double rate)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = (uint64_t)(1e9 / rate),
	};
	int attached = 0;
	for (int i = 0; i < bpf->count; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, i, -1,
				      PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			return refused(errno, "perf_event_open");
		bpf->links[i] = bpf_program__attach_perf_event(bpf->program, fd);
		if (!bpf->links[i]) {
			int number = errno;
			close(fd);
			return refused(number, "attaching the program");
		}
		attached++;
	}
	return attached ? NULL : refused(ENODEV, "perf_event_open");
}

static struct rcore_error *begin(struct rcore_bpf *bpf, const struct rcore_bpf_options *options)
{
	struct stat namespace;
	bpf->count = libbpf_num_possible_cpus();
	if (bpf->count < 1)
		return refused(ENODEV, "processors");
	if (stat("/proc/self/ns/pid", &namespace))
		return refused(errno, "/proc/self/ns/pid");
	bpf->link_count = (size_t)bpf->count;
	if (bpf->link_count < options->function_count)
		bpf->link_count = options->function_count;
	bpf->links = calloc(bpf->link_count, sizeof(*bpf->links));
	bpf->skeleton = bpf->links ? sample__open() : NULL;
	if (!bpf->skeleton)
		return rcore_error_no_memory();
	choose(bpf, options->event);
	if (options->native && !choose_native(bpf))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "native frames need Linux 5.15 or later "
					  "(bpf_task_pt_regs); leave out --native");
	bpf->skeleton->rodata->kernel = options->kernel;
	bpf->skeleton->rodata->pid_namespace = (uint32_t) namespace.st_ino;
	memcpy((void *)bpf->skeleton->rodata->calls, options->calls, sizeof(options->calls));
	memcpy((void *)bpf->skeleton->rodata->starters, options->starters,
	       sizeof(options->starters));
	bpf_map__set_max_entries(bpf->skeleton->maps.scratches, (uint32_t)bpf->count);
	struct rcore_error *err = load(bpf);
	if (err)
		return err;
	bpf->ring =
		ring_buffer__new(bpf_map__fd(bpf->skeleton->maps.records), receive, bpf, NULL);
	if (!bpf->ring)
		return refused(errno, "ring buffer");
	if (options->event == RCORE_BPF_EVENT_CPU)
		return attach_perf_events(bpf, options->rate);
	if (options->event == RCORE_BPF_EVENT_FUNCTIONS)
		return attach_functions(bpf, options);
	return attach_tracepoint(bpf, options->event == RCORE_BPF_EVENT_CALLS ? "sys_exit"
									      : "sched_switch");
}

static void close_bpf(struct rcore_bpf *bpf)
{
	if (!bpf)
		return;
	for (size_t i = 0; bpf->links && i < bpf->link_count; i++)
		bpf_link__destroy(bpf->links[i]);
	ring_buffer__free(bpf->ring);
	sample__destroy(bpf->skeleton);
	free(bpf->links);
	free(bpf);
}

static struct rcore_error *open_bpf(const struct rcore_bpf_options *options,
				    struct rcore_bpf **ret)
{
	struct rcore_bpf *bpf = calloc(1, sizeof(*bpf));
	if (!bpf)
		return rcore_error_no_memory();
	libbpf_set_print(print_nothing);
	struct rcore_error *err = begin(bpf, options);
	if (err)
		close_bpf(bpf);
	else
		*ret = bpf;
	return err;
}

static struct rcore_error *add(struct rcore_bpf *bpf, int pid,
			       const struct rcore_bpf_process *process)
{
	if (!bpf_map_update_elem(bpf_map__fd(bpf->skeleton->maps.processes), &pid, process,
				 BPF_ANY))
		return NULL;
	if (errno == E2BIG)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "at most %u processes can be sampled with BPF",
					  bpf_map__max_entries(bpf->skeleton->maps.processes));
	return rcore_error_os(errno, "cannot add process %d to the BPF program", pid);
}

static void remove_process(struct rcore_bpf *bpf, int pid)
{
	bpf_map_delete_elem(bpf_map__fd(bpf->skeleton->maps.processes), &pid);
}

static void consume(struct rcore_bpf *bpf,
		    bool (*each)(const struct rcore_bpf_record *record, size_t size,
				 void *context),
		    void *context)
{
	bpf->each = each;
	bpf->context = context;
	ring_buffer__consume(bpf->ring);
}

static void wait_for_records(struct rcore_bpf *bpf, uint64_t until)
{
	enum { SECOND = 1000000000 };
	struct pollfd ring = {.fd = ring_buffer__epoll_fd(bpf->ring), .events = POLLIN};
	uint64_t now = rcore_clock_ns(), left = until > now ? until - now : 0;
	const struct timespec time = {.tv_sec = (time_t)(left / SECOND),
				      .tv_nsec = (long)(left % SECOND)};
	bpf->skeleton->bss->wakes = true;
	ppoll(&ring, 1, &time, NULL);
}

static void count(struct rcore_bpf *bpf, struct rcore_bpf_counts *ret)
{
	ret->overruns = bpf->skeleton->bss->overruns;
	ret->unread = bpf->skeleton->bss->unread;
}

const struct rcore_bpf_engine rcore_bpf_engine = {
	.open = open_bpf,
	.add = add,
	.remove = remove_process,
	.consume = consume,
	.wait = wait_for_records,
	.counts = count,
	.close = close_bpf,
};
