/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_BPF_H
#define RCORE_RUBY_BPF_H

/*
 * Reads a running Ruby from a BPF program: the context of the gem
 * ruby-profiler, and the Ruby stack, at the moment of an event. Everything is
 * read from the memory of the current thread; it works on stripped Rubies.
 *
 * `rcore bpf-params -p PID --binary` writes a struct rcore_ruby_params for one
 * process. A loader puts it into a map, by process id, and the program looks it
 * up at each event. docs/bpf.md explains this; examples/bpf/ is an example.
 *
 * In a BPF program, include this after <linux/bpf.h> or vmlinux.h,
 * <bpf/bpf_helpers.h> and <bpf/bpf_core_read.h>. In other programs, only the
 * structs and rcore_ruby_frame() are declared. The licence of the BPF program
 * must be compatible with the GPL, because the kernel's helpers that read
 * memory require it.
 */

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Changes whenever struct rcore_ruby_params does. */
#define RCORE_RUBY_PARAMS_VERSION 2

/* How many names of keys `rcore bpf-params --key` takes. */
#define RCORE_RUBY_KEYS 8

/* How many slots of a context a lookup visits at most. */
#ifndef RCORE_RUBY_PROBES
#define RCORE_RUBY_PROBES 64
#endif

/* How much of a stack is kept: a power of two. A frame has 56 or 64 bytes. */
#ifndef RCORE_RUBY_STACK_BYTES
#define RCORE_RUBY_STACK_BYTES 8192
#endif

enum rcore_ruby_place {
	RCORE_RUBY_NOWHERE,
	RCORE_RUBY_ADDRESS, /* one variable of the process: its address */
	RCORE_RUBY_THREAD,  /* an offset from the thread pointer */
	RCORE_RUBY_MODULE,  /* an offset into the thread's block of a module */
};

struct rcore_ruby_variable {
	__u32 place;  /* enum rcore_ruby_place */
	__u32 module; /* the index in the thread's vector of blocks (dtv) */
	__s64 offset;
};

/*
 * What rcore knows about one process. Members without a comment are offsets of
 * the members of CRuby's structs that have these names; -1: this Ruby has no
 * such member.
 */
struct rcore_ruby_params {
	__u32 version; /* RCORE_RUBY_PARAMS_VERSION */
	__u32 key_count;
	/*
	 * The id of the process, and the inode number of the pid namespace in
	 * which the process has this id: rcore's. Both are for
	 * rcore_ruby_pid().
	 */
	__u32 pid, pid_namespace;
	/* IDs of the keys that --key named, in their order. */
	__u64 keys[RCORE_RUBY_KEYS];

	/* The thread's rb_execution_context_t *. */
	struct rcore_ruby_variable ec;
	/* ruby_profiler_state; NOWHERE if the gem is not loaded. */
	struct rcore_ruby_variable state;
	/* The thread pointer minus the pthread_t: 0 on x86-64. */
	__s64 thread_pointer;
	/* The offset of the pointer to the dtv from the thread pointer. */
	__s32 dtv;

	__s32 ec_vm_stack, ec_vm_stack_size, ec_cfp, ec_thread;
	/* The pthread_t is in the rb_native_thread from 3.2 on. */
	__s32 thread_native, thread_pthread, native_pthread;
	__s32 frame_size, frame_pc, frame_iseq, frame_ep;
	__s32 iseq_body, body_label;
	__s32 method_definition, definition_original_id;

	__s32 string_length, string_pointer, string_embedded;
	/* -1: its length is at string_length, or in its flags. */
	__s32 string_embedded_length;
	__s32 array_length, array_pointer, array_embedded;
	/* The bit in the flags of a String that is not embedded. */
	__u32 string_noembed;

	/* For names of IDs. */
	__u32 id_last_operator, id_scope_shift;
	__u64 symbol_names; /* address of rb_symbols_t.ids; 0: not found */
};

struct rcore_ruby_frame {
	__u64 iseq; /* rb_iseq_t *; 0 in a method that is written in C */
	__u64 pc;   /* into its iseq_encoded, after the instruction */
	__u64 ep;   /* its environment: valid only at this moment */
};

/* Keep this in a map: a BPF program has only 512 bytes of stack. */
struct rcore_ruby_stack {
	__u64 ec, cfp;
	__u32 depth; /* how many control frames the fiber has */
	__u32 count; /* how many of them are here: the innermost ones */
	/* Control frames as they are in memory. */
	__u64 words[RCORE_RUBY_STACK_BYTES / 8 + 1];
};

/*
 * Sets *ret to a frame of a copied stack; 0 is the innermost. Returns 0 if
 * there is no such frame.
 */
static inline __attribute__((always_inline)) int
rcore_ruby_frame(const struct rcore_ruby_params *params, const struct rcore_ruby_stack *stack,
		 __u32 index, struct rcore_ruby_frame *ret)
{
	const __u32 mask = RCORE_RUBY_STACK_BYTES / 8 - 1;
	__u32 start = index * ((__u32)params->frame_size / 8);
	if (index >= stack->count)
		return 0;
	ret->iseq = stack->words[(start + (__u32)params->frame_iseq / 8) & mask];
	ret->pc = stack->words[(start + (__u32)params->frame_pc / 8) & mask];
	ret->ep = stack->words[(start + (__u32)params->frame_ep / 8) & mask];
	return 1;
}

#ifdef __bpf__

/* Types of CRuby: ruby_value_type, imemo_type and vm_frame_env_flags. */
enum {
	RCORE_RUBY_T_STRING = 0x05,
	RCORE_RUBY_T_ARRAY = 0x07,
	RCORE_RUBY_T_IMEMO = 0x1a,
	RCORE_RUBY_T_MASK = 0x1f,
	RCORE_RUBY_IMEMO_METHOD = RCORE_RUBY_T_IMEMO | 6 << 12,
	RCORE_RUBY_IMEMO_MASK = RCORE_RUBY_T_MASK | 0xf << 12,
	RCORE_RUBY_ARRAY_EMBEDDED = 1 << 13,
	RCORE_RUBY_FRAME_MASK = 0x7fff0001,
	RCORE_RUBY_FRAME_C = 0x55550001,
	RCORE_RUBY_FRAME_IFUNC = 0x66660001,
	RCORE_RUBY_FRAME_DUMMY = 0x79990001,
};

#define RCORE_RUBY_FUNCTION static __attribute__((always_inline, unused)) inline

/*
 * Hides from the compiler what it knows about a variable. If a loop has two
 * bounds, a constant and a variable, clang 19 computes the smaller one before
 * the loop. The verifier then does not see that the loop ends, and gives up
 * after a million instructions. The compiler also drops a check of a bound if
 * it considers the check redundant.
 */
#define RCORE_RUBY_OPAQUE(variable) asm volatile("" : "+r"(variable))

/* Members of the kernel's structs; BTF says where they are. */
struct ns_common___rcore {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace___rcore {
	struct ns_common___rcore ns;
} __attribute__((preserve_access_index));

struct upid___rcore {
	int nr;
	struct pid_namespace___rcore *ns;
} __attribute__((preserve_access_index));

struct pid___rcore {
	unsigned int level;
	struct upid___rcore numbers[1];
} __attribute__((preserve_access_index));

struct task_struct___rcore_ids {
	struct pid___rcore *thread_pid;
	struct task_struct___rcore_ids *group_leader;
} __attribute__((preserve_access_index));

enum {
	/* Inode number of the first pid namespace: PROC_PID_INIT_INO. */
	RCORE_RUBY_FIRST_NAMESPACE = 0xeffffffc,
	RCORE_RUBY_NAMESPACE_LEVELS = 32, /* MAX_PID_NS_LEVEL */
};

/*
 * Returns the id of a thread, a struct task_struct, in a pid namespace; 0:
 * none. A thread has an id in its own namespace and in each one that contains
 * it.
 */
RCORE_RUBY_FUNCTION __u32 rcore_ruby_id_in(const void *thread, __u32 pid_namespace)
{
	const struct task_struct___rcore_ids *task = thread;
	const struct pid___rcore *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	__u64 numbers = (__u64)pid + bpf_core_field_offset(pid->numbers);
	for (__u32 i = 0; i < RCORE_RUBY_NAMESPACE_LEVELS && i <= level; i++) {
		RCORE_RUBY_OPAQUE(level);
		const struct upid___rcore *number = (const void *)numbers;
		if (BPF_CORE_READ(number, ns, ns.inum) == pid_namespace)
			return (__u32)BPF_CORE_READ(number, nr);
		numbers += bpf_core_type_size(struct upid___rcore);
	}
	return 0;
}

/*
 * Returns the id of the current process in a pid namespace; 0: none. In a
 * container, bpf_get_current_pid_tgid() does not return the id that programs in
 * the container see, but that of the first namespace.
 */
RCORE_RUBY_FUNCTION __u32 rcore_ruby_pid(__u32 pid_namespace)
{
	const struct task_struct___rcore_ids *task;
	if (pid_namespace == RCORE_RUBY_FIRST_NAMESPACE)
		return bpf_get_current_pid_tgid() >> 32;
	task = (const void *)bpf_get_current_task();
	return rcore_ruby_id_in(BPF_CORE_READ(task, group_leader), pid_namespace);
}

/* Reads a word of the current process; 0 if it cannot be read. */
RCORE_RUBY_FUNCTION __u64 rcore_ruby_word(__u64 address)
{
	__u64 word = 0;
	if (bpf_probe_read_user(&word, sizeof(word), (const void *)address))
		return 0;
	return word;
}

/* The kernel keeps the thread pointer in task_struct; BTF says where. */
struct thread_struct___rcore_x86 {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

struct task_struct___rcore_x86 {
	struct thread_struct___rcore_x86 thread;
} __attribute__((preserve_access_index));

struct thread_struct___rcore_arm64 {
	struct {
		unsigned long tp_value;
	} uw;
} __attribute__((preserve_access_index));

struct task_struct___rcore_arm64 {
	struct thread_struct___rcore_arm64 thread;
} __attribute__((preserve_access_index));

RCORE_RUBY_FUNCTION __u64 rcore_ruby_thread_pointer(void)
{
	const struct task_struct___rcore_x86 *x86 = (const void *)bpf_get_current_task();
	const struct task_struct___rcore_arm64 *arm64 = (const void *)x86;
	unsigned long pointer = 0;
	if (bpf_core_field_exists(x86->thread.fsbase))
		bpf_core_read(&pointer, sizeof(pointer), &x86->thread.fsbase);
	else if (bpf_core_field_exists(arm64->thread.uw.tp_value))
		bpf_core_read(&pointer, sizeof(pointer), &arm64->thread.uw.tp_value);
	return pointer;
}

/*
 * Returns the address of a variable in the current thread, whose thread pointer
 * is `pointer`; 0 if it does not have it (yet). A dtv of glibc has entries of
 * 16 bytes, and its length before the first one; a block that was not created
 * yet is 0 or -1.
 */
RCORE_RUBY_FUNCTION __u64 rcore_ruby_address(const struct rcore_ruby_params *params,
					     const struct rcore_ruby_variable *variable,
					     __u64 pointer)
{
	__u64 vector, block;
	if (variable->place == RCORE_RUBY_ADDRESS)
		return variable->offset;
	if (!pointer || variable->place == RCORE_RUBY_NOWHERE)
		return 0;
	if (variable->place == RCORE_RUBY_THREAD)
		return pointer + variable->offset;
	vector = rcore_ruby_word(pointer + params->dtv);
	if (!vector || variable->module > rcore_ruby_word(vector - 16))
		return 0;
	block = rcore_ruby_word(vector + 16 * (__u64)variable->module);
	return block && block != (__u64)-1 ? block + variable->offset : 0;
}

/*
 * Returns the table of keys and values that the gem has published for the
 * current thread (struct Ruby_Profiler_State *); 0 if there is none.
 */
RCORE_RUBY_FUNCTION __u64 rcore_ruby_state(const struct rcore_ruby_params *params)
{
	__u64 pointer = rcore_ruby_thread_pointer();
	__u64 address = rcore_ruby_address(params, &params->state, pointer);
	return address ? rcore_ruby_word(address) : 0;
}

/*
 * Sets *value to the VALUE of a key, such as params->keys[0], in the context of
 * the current thread. Returns 0 if it does not have the key. A lookup begins at
 * slot `key & (capacity - 1)` and ends at an empty slot, or after all slots.
 */
RCORE_RUBY_FUNCTION int rcore_ruby_state_lookup(const struct rcore_ruby_params *params,
						__u64 key, __u64 *value)
{
	__u64 table = rcore_ruby_state(params), pair[2], capacity;
	if (!table || !key)
		return 0;
	capacity = rcore_ruby_word(table + 8);
	for (__u32 i = 0; i < RCORE_RUBY_PROBES && i < capacity; i++) {
		RCORE_RUBY_OPAQUE(capacity);
		__u64 slot = (key + i) & (capacity - 1);
		if (bpf_probe_read_user(pair, sizeof(pair),
					(const void *)(table + 16 + slot * sizeof(pair))))
			return 0;
		if (pair[0] == key) {
			*value = pair[1];
			return 1;
		}
		if (!pair[0])
			return 0;
	}
	return 0;
}

/*
 * Copies the first bytes of a String, without a NUL at the end. Returns how
 * many it copied; -1 if `value` is not a String, or cannot be read. `size` must
 * be a constant.
 */
RCORE_RUBY_FUNCTION long rcore_ruby_string(const struct rcore_ruby_params *params, __u64 value,
					   char *buffer, __u32 size)
{
	__u64 flags, bytes, length;
	if (!value || value & 7)
		return -1;
	flags = rcore_ruby_word(value);
	if ((flags & RCORE_RUBY_T_MASK) != RCORE_RUBY_T_STRING)
		return -1;
	length = rcore_ruby_word(value + params->string_length);
	bytes = value + params->string_embedded;
	if (flags & params->string_noembed)
		bytes = rcore_ruby_word(value + params->string_pointer);
	else if (params->string_embedded_length >= 0)
		length = rcore_ruby_word(value + params->string_embedded_length);
	else if (params->string_embedded == params->string_length)
		length = flags >> 14 & 0x1f;
	if (length > size)
		length = size;
	RCORE_RUBY_OPAQUE(length);
	if (length > size || bpf_probe_read_user(buffer, length, (const void *)bytes))
		return -1;
	return (long)length;
}

/*
 * Returns the current thread's execution context; 0 if the thread runs no Ruby.
 * A native thread may keep the pointer of a Ruby thread that it ran before, and
 * Ruby 2.7 has one pointer for all threads, so the context must be of a Ruby
 * thread that this native thread runs.
 */
RCORE_RUBY_FUNCTION __u64 rcore_ruby_ec(const struct rcore_ruby_params *params)
{
	__u64 pointer = rcore_ruby_thread_pointer(), ec, thread, pthread;
	__u64 address = rcore_ruby_address(params, &params->ec, pointer);
	if (!address)
		return 0;
	ec = rcore_ruby_word(address);
	if (!ec)
		return 0;
	thread = rcore_ruby_word(ec + params->ec_thread);
	if (!thread)
		return 0;
	if (params->thread_native >= 0)
		pthread = rcore_ruby_word(rcore_ruby_word(thread + params->thread_native) +
					  params->native_pthread);
	else
		pthread = rcore_ruby_word(thread + params->thread_pthread);
	return pthread + params->thread_pointer == pointer ? ec : 0;
}

/*
 * Copies the control frames of the fiber that the current thread runs, in one
 * read. Returns how many it copied; 0 if the thread runs no Ruby; -1 if they
 * cannot be read.
 */
RCORE_RUBY_FUNCTION long rcore_ruby_stack(const struct rcore_ruby_params *params,
					  struct rcore_ruby_stack *stack)
{
	__u64 ec = rcore_ruby_ec(params), end, bytes;
	__u32 size = (__u32)params->frame_size;
	stack->ec = ec;
	stack->depth = stack->count = 0;
	if (!ec || !size)
		return 0;
	stack->cfp = rcore_ruby_word(ec + params->ec_cfp);
	end = rcore_ruby_word(ec + params->ec_vm_stack) +
	      8 * rcore_ruby_word(ec + params->ec_vm_stack_size);
	if (!stack->cfp || stack->cfp >= end)
		return 0;
	bytes = end - stack->cfp;
	stack->depth = bytes / size;
	if (bytes > RCORE_RUBY_STACK_BYTES)
		bytes = RCORE_RUBY_STACK_BYTES;
	RCORE_RUBY_OPAQUE(bytes);
	if (bytes > RCORE_RUBY_STACK_BYTES ||
	    bpf_probe_read_user(stack->words, bytes, (const void *)stack->cfp))
		return -1;
	stack->count = bytes / size;
	return stack->count;
}

/* Returns an element of an Array; 0 if it does not exist. */
RCORE_RUBY_FUNCTION __u64 rcore_ruby_element(const struct rcore_ruby_params *params,
					     __u64 array, __u64 index)
{
	__u64 flags, length, elements;
	if (!array || array & 7)
		return 0;
	flags = rcore_ruby_word(array);
	if ((flags & RCORE_RUBY_T_MASK) != RCORE_RUBY_T_ARRAY)
		return 0;
	if (flags & RCORE_RUBY_ARRAY_EMBEDDED && params->array_embedded >= 0) {
		length = flags >> 15 & 0x7f;
		elements = array + params->array_embedded;
	} else {
		length = rcore_ruby_word(array + params->array_length);
		elements = rcore_ruby_word(array + params->array_pointer);
	}
	return index < length ? rcore_ruby_word(elements + index * 8) : 0;
}

/*
 * Copies the first bytes of an ID's name. Returns how many it copied; -1 if
 * there is no such ID. A serial's name and its Symbol are next to each other,
 * in Arrays of 512 such pairs (ID_ENTRY_UNIT of symbol.c).
 */
RCORE_RUBY_FUNCTION long rcore_ruby_id_name(const struct rcore_ruby_params *params, __u64 id,
					    char *buffer, __u32 size)
{
	__u64 serial = id > params->id_last_operator ? id >> (params->id_scope_shift & 63) : id;
	__u64 names = params->symbol_names ? rcore_ruby_word(params->symbol_names) : 0;
	__u64 unit = rcore_ruby_element(params, names, serial / 512);
	return rcore_ruby_string(params, rcore_ruby_element(params, unit, serial % 512 * 2),
				 buffer, size);
}

/*
 * Copies the first bytes of a frame's label: that of its code, without the
 * class ("block in call"), or the name of a method that is written in C. Call
 * this before the BPF program returns: a frame's environment is valid only at
 * the moment when the stack was copied. Returns how many bytes it copied; 0 for
 * a frame that a backtrace does not show; -1 if the label cannot be read.
 */
RCORE_RUBY_FUNCTION long rcore_ruby_label(const struct rcore_ruby_params *params,
					  const struct rcore_ruby_frame *frame, char *buffer,
					  __u32 size)
{
	__u64 environment[3], magic, method, body;
	if (bpf_probe_read_user(environment, sizeof(environment),
				(const void *)(frame->ep - 16)))
		return -1;
	magic = environment[2] & RCORE_RUBY_FRAME_MASK;
	if (magic == RCORE_RUBY_FRAME_DUMMY || magic == RCORE_RUBY_FRAME_IFUNC)
		return 0;
	if (frame->iseq && !frame->pc)
		return 0;
	if (frame->iseq) {
		body = rcore_ruby_word(frame->iseq + params->iseq_body);
		return rcore_ruby_string(params, rcore_ruby_word(body + params->body_label),
					 buffer, size);
	}
	if (magic != RCORE_RUBY_FRAME_C)
		return 0;
	method = environment[0];
	if ((rcore_ruby_word(method) & RCORE_RUBY_IMEMO_MASK) != RCORE_RUBY_IMEMO_METHOD)
		return -1;
	method = rcore_ruby_word(method + params->method_definition);
	return rcore_ruby_id_name(
		params, rcore_ruby_word(method + params->definition_original_id), buffer, size);
}

#endif

#endif
