/* SPDX-License-Identifier: MIT */
#include "target/pack/pack_notes.h"

#include <elf.h>
#include <string.h>

#include "base/count.h"
#include "base/filler.h"
#include "target/prstatus.h"

enum {
	/* struct user_fpsimd_state of aarch64; FXSAVE has 512 bytes. */
	FPSIMD_SIZE = 528,
	/* Of <linux/elf.h>; this machine's <elf.h> may be older. */
	ARM_SSVE = 0x40b,
	ARM_ZA = 0x40c,
	ARM_ZT = 0x40d,
};

/*
 * The parts of notes with registers that no report prints. memcpy() leaves
 * pieces of strings in them. If `size` is not 0, the note must have that size.
 * If `end` is 0, the part reaches to the end of the note.
 */
static const struct {
	uint32_t type;
	size_t size, start, end;
} registers[] = {
	/*
	 * FXSAVE: st0 to xmm15. After it come the layout of XSAVE's area, then
	 * ymm and the rest.
	 */
	{NT_FPREGSET, 0, 32, 416},
	{NT_X86_XSTATE, 0, 32, 416},
	{NT_X86_XSTATE, 0, 576, 0},
	/* V0 to V31; the status follows. */
	{NT_FPREGSET, FPSIMD_SIZE, 0, 512},
	/* A struct user_sve_header or user_za_header precedes the registers. */
	{NT_ARM_SVE, 0, 16, 0},
	{ARM_SSVE, 0, 16, 0},
	{ARM_ZA, 0, 16, 0},
	{ARM_ZT, 0, 0, 0},
};

enum { TEXT_LEAST = 4 };

bool rcore_is_text_word(uint64_t word)
{
	enum { ADDRESS_BITS = 47 };
	int run = 0, longest = 0;
	for (int i = 0; i < 64; i += 8) {
		unsigned c = word >> i & 0xff;
		run = c >= 0x20 && c < 0x7f ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return word >> ADDRESS_BITS && longest >= TEXT_LEAST;
}

unsigned rcore_text_bytes(uint64_t word)
{
	unsigned ret = 0;
	if (!rcore_is_text_word(word))
		return 0;
	for (size_t start = 0, end; start < sizeof(word); start = end + 1) {
		for (end = start; end < sizeof(word) && word >> 8 * end & 0xff;)
			end++;
		if (end - start >= TEXT_LEAST)
			ret |= (1u << end) - (1u << start);
	}
	return ret;
}

static void hide_status(uint8_t *bytes, size_t size)
{
	uint64_t word;
	for (size_t at = RCORE_PRSTATUS_REG; at + sizeof(word) <= size; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		if (rcore_is_text_word(word))
			memset(bytes + at, 0, sizeof(word));
	}
}

static void hide_process(uint8_t *bytes, size_t size, const struct rcore_pack_hiding *hiding)
{
	enum { NAME_SIZE = 16 };
	if (size < RCORE_PRPSINFO_SIZE)
		return;
	char *name = (char *)bytes + RCORE_PRPSINFO_FNAME;
	char *words = (char *)bytes + RCORE_PRPSINFO_PSARGS;
	size_t words_size = RCORE_PRPSINFO_SIZE - RCORE_PRPSINFO_PSARGS;
	/*
	 * This may be the name of a thread, which the program chose. A
	 * program's own name is also in the first word of the command line.
	 */
	size_t length = strnlen(name, NAME_SIZE);
	if (!memmem(words, strcspn(words, " ") % words_size, name, length))
		rcore_fill(name, length);
	length = strnlen(words, words_size);
	while (length && words[length - 1] == ' ')
		length--;
	hiding->command(hiding->context, words, length);
}

static void hide_registers(uint32_t type, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < RCORE_COUNT(registers); i++) {
		size_t end = registers[i].end ? registers[i].end : size;
		end = end < size ? end : size;
		if (registers[i].type == type && registers[i].start < end &&
		    (!registers[i].size || registers[i].size == size))
			memset(bytes + registers[i].start, 0, end - registers[i].start);
	}
}

static size_t aligned(size_t size, size_t alignment)
{
	return (size + alignment - 1) & ~(alignment - 1);
}

void rcore_pack_notes_hide(uint8_t *notes, size_t size, size_t alignment,
			   const struct rcore_pack_hiding *hiding)
{
	Elf64_Nhdr note;
	for (size_t at = 0; size - at >= sizeof(note);) {
		memcpy(&note, notes + at, sizeof(note));
		size_t desc = at + aligned(sizeof(note) + note.n_namesz, alignment);
		if (desc > size || note.n_descsz > size - desc)
			return;
		hide_registers(note.n_type, notes + desc, note.n_descsz);
		if (note.n_type == NT_PRSTATUS)
			hide_status(notes + desc, note.n_descsz);
		else if (note.n_type == NT_PRPSINFO)
			hide_process(notes + desc, note.n_descsz, hiding);
		at = desc + aligned(note.n_descsz, alignment);
		if (at > size)
			return;
	}
}
