# SPDX-License-Identifier: MIT
# `make help` lists the targets.

BUILD   ?= build
CFLAGS  ?= -O2 -g

# $(call once,VARIABLE,COMMAND): what COMMAND prints. Runs it when VARIABLE is
# first used, because `make setup` runs before pkg-config is installed, and only
# once.
once = $(eval $1 := $(shell $2))$($1)

# Inflates debug files. Without it, or with `make DEFLATE=`, libdw does so with zlib, in twice the time.
DEFLATE ?= $(call once,DEFLATE,pkg-config --exists libdeflate 2>/dev/null && echo yes)
PKGS    = libelf libdw json-c zlib libprotobuf-c $(if $(DEFLATE),libdeflate)
# Debian 12's libarchive.pc asks for the development packages of what it links.
LIBARCHIVE = -larchive
# A static library. The parts of it in librcore.so must not replace those of gdb.
LIBIBERTY = -liberty
VERSION := $(shell sed -n 's/.*RCORE_VERSION "\(.*\)"/\1/p' analyzer/base/version.h)
SO       = librcore.so.0

WARN = -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wno-unused-parameter -Werror=implicit-function-declaration
# Objects do not name the folder that they were built in.
# If several map a path, the last one counts: $(CACHE) may be below this folder, or its name may begin like this one's.
MAPS = '-ffile-prefix-map=$(call absolute,$(BUILD))=build' '-ffile-prefix-map=$(CURDIR)=.' '-ffile-prefix-map=$(CACHE)=cache'
# Unlike abspath, this lets the present folder have spaces in its name.
absolute = $(if $(filter /%,$1),$1,$(CURDIR)/$1)
override CFLAGS   += -std=gnu17 $(WARN) -fPIC -fvisibility=hidden $(MAPS) -MMD -MP
override CPPFLAGS += -D_GNU_SOURCE $(if $(DEFLATE),-DRCORE_DEFLATE) -Ianalyzer -I$(BUILD)/gen $(PKG_CFLAGS)
PKG_CFLAGS = $(call once,PKG_CFLAGS,pkg-config --cflags $(PKGS))
PKG_LIBS   = $(call once,PKG_LIBS,pkg-config --libs $(PKGS))
LIBS = $(PKG_LIBS) $(LIBARCHIVE) $(LIBIBERTY) -lm

# `make V=1` shows each command.
Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

# $(call below,PATTERN,FOLDER ...): the files in the folders, and in any folder below them, whose names match. The source gem lacks tests/.
below = $(sort $(shell find $2 -name '$1' ! -name '.*' 2>/dev/null))

# Each file is in one of these lists (tests/lint/sources.sh). cli is the command alone; mk/bpf.mk and mk/static.mk have the rest.
LAYERS   := $(filter-out . cli,$(shell grep -v "^\#" analyzer/layers))
LIB_SRC  := $(filter-out analyzer/sampler/bpf/%,$(call below,*.c,$(LAYERS:%=analyzer/%)))
CLI_SRC  := $(filter-out analyzer/cli/static/%,$(call below,*.c,analyzer/cli))
PLUG_SRC := $(call below,*.c,plugin)
TABLES   = $(sort $(wildcard analyzer/layout/tables/*.layout))
PROTOS   := $(call below,*.proto,analyzer)
PROTO_C  = $(PROTOS:analyzer/%.proto=$(BUILD)/gen/%.pb-c.c)
LIB_OBJ  = $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/tables.o $(PROTO_C:%.c=%.o) \
	$(BUILD)/gen/report/profile/flame_script.o $(BUILD)/gen/report/profile/flame_style.o \
	$(BUILD)/gen/report/html/html_script.o $(BUILD)/gen/report/html/html_heap_script.o $(BUILD)/gen/report/html/html_style.o \
	$(BUILD)/gen/report/profile/html_profile_script.o \
	$(BUILD)/gen/vm/work/recognizers.o
# Outputs of profiles are the command's alone: a debugger that loads the library needs none of their libraries.
SO_OBJ   = $(filter-out $(BUILD)/analyzer/report/profile/% $(BUILD)/gen/report/profile/% $(BUILD)/analyzer/command/profile_output.o, $(LIB_OBJ))
CLI_OBJ  = $(CLI_SRC:%.c=$(BUILD)/%.o)
PLUG_OBJ = $(PLUG_SRC:%.c=$(BUILD)/%.o)

# Keep all intermediate files. GNU Make 4.4 otherwise removes some, and builds them and the programs again at the next call.
.SECONDARY:

.PHONY: all help clean
all: $(BUILD)/rcore $(BUILD)/librcore.so $(BUILD)/librcore.a ## build the command, the library and the bridge

help: ## list the targets
	@cat $(MAKEFILE_LIST) | awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}'

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# Rewritten when libdeflate is switched on or off. `make setup all` asks for it only after `setup` has installed it.
DEFLATE_USED = $(BUILD)/deflate-used
ifeq ($(filter setup setup-tests,$(MAKECMDGOALS)),)
ifneq ($(shell cat $(DEFLATE_USED) 2>/dev/null),$(or $(DEFLATE),no))
.PHONY: $(DEFLATE_USED)
endif
endif
$(DEFLATE_USED):
	@mkdir -p $(@D) && echo '$(or $(DEFLATE),no)' > $@

$(BUILD)/analyzer/image/symbolize/inflate_section.o: $(DEFLATE_USED)

# The tables as C strings, so that the library needs no files at run time. The folder changes when a table is removed.
$(BUILD)/gen/tables.c: scripts/pack-tables.awk $(TABLES) analyzer/layout/tables
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)awk -f $(filter %.awk %.layout,$^) > $@

# The names of the system calls of the machine that CC compiles for.
$(BUILD)/gen/sampler/system_calls.inc: Makefile
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) $(filter-out -MMD -MP,$(CPPFLAGS) $(CFLAGS)) -dM -E - | \
		LC_ALL=C sed -n 's/^.define __NR_\([a-z][a-z0-9_]*\) .*/CALL(\1)/p' | LC_ALL=C sort > $@

$(BUILD)/analyzer/sampler/system_calls.o: $(BUILD)/gen/sampler/system_calls.inc

# What flame graphs contain.
FLAME_C = $(BUILD)/gen/report/profile/flame_script.c $(BUILD)/gen/report/profile/flame_style.c
$(BUILD)/gen/report/profile/flame_script.c: analyzer/report/profile/flame.js analyzer/report/profile/flame_svg.js
$(BUILD)/gen/report/profile/flame_style.c: analyzer/report/profile/flame.css
$(FLAME_C): $(BUILD)/gen/report/profile/flame_%.c: scripts/embed.awk
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)awk -v name=rcore_flame_$* -f scripts/embed.awk $(filter %.js %.css,$^) > $@

# What pages for browsers contain, without indentation, and its hashes. The scripts are in the order in which they need each other.
HTML_C = $(BUILD)/gen/report/html/html_script.c $(BUILD)/gen/report/html/html_heap_script.c $(BUILD)/gen/report/html/html_style.c \
	$(BUILD)/gen/report/profile/html_profile_script.c
$(BUILD)/gen/report/html/html_script.c: $(patsubst %,analyzer/report/html/%.js,parts packed data stack threads waits report)
$(BUILD)/gen/report/profile/html_profile_script.c: $(patsubst %,analyzer/report/%.js,html/parts html/packed html/tables profile/flame profile/page/timeline profile/page/processes profile/page/page)
$(BUILD)/gen/report/html/html_heap_script.c: $(patsubst %,analyzer/report/html/%.js,parts packed tables treemap heap)
$(BUILD)/gen/report/html/html_style.c: $(patsubst %,analyzer/report/html/%.css,page charts)
$(HTML_C): scripts/embed.awk scripts/csp-hash.awk
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sed 's/^\t*//' $(filter %.js %.css,$^) > $@.text
	$(Q)awk -v name=rcore_$(basename $(@F)) -f scripts/embed.awk $@.text > $@.new
	$(Q)sha256sum < $@.text | awk -v name=rcore_$(basename $(@F))_hash -f scripts/csp-hash.awk >> $@.new
	$(Q)rm $@.text; mv $@.new $@

# What frameworks work on.
$(BUILD)/gen/vm/work/recognizers.c: scripts/embed.awk analyzer/vm/work/recognizers.json
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)awk -v name=rcore_recognizers_json -f $^ > $@

# The messages of protocol buffers.
$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h &: analyzer/%.proto
	@mkdir -p $(@D)
	$(call say,GEN,$(BUILD)/gen/$*.pb-c.c)
	$(Q)protoc-c --proto_path=analyzer --c_out=$(BUILD)/gen $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(addprefix $(BUILD)/analyzer/report/,profile/pprof.o profile/pprof_stream.o profile/heap_pprof.o): $(BUILD)/gen/report/profile/pprof.pb-c.h

# q: files of several folders share a name, and r would replace the first with the second.
$(BUILD)/librcore.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcsD $@ $^

$(BUILD)/$(SO): $(SO_OBJ) $(PLUG_OBJ) analyzer/librcore.map
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,$(SO) -Wl,-z,defs -Wl,--version-script=analyzer/librcore.map \
		$(SO_OBJ) $(PLUG_OBJ) -o $@ $(LDFLAGS) -Wl,--as-needed $(LIBS)

$(BUILD)/librcore.so: $(BUILD)/$(SO)
	$(Q)ln -sf $(SO) $@

$(BUILD)/rcore: $(CLI_OBJ) $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(CLI_OBJ) $(BPF_OBJ) $(BUILD)/librcore.a -o $@ $(LDFLAGS) $(BPF_LIBS) $(LIBS)

clean: ## remove what was built
	rm -rf $(BUILD)

include $(wildcard mk/*.mk)
# Nothing makes sources. Without this, Make tries its own rules for each of them,
# which takes seconds; and those for what is not there must not start from them.
.SUFFIXES:
%: %.o
%: %.c
%.c: ;
%.h: ;
%.S: ;
%.def: ;
$(BUILD)/%.d: ;
# `scripts/measure` builds CRuby below measure; its probes.d lists no dependencies.
-include $(shell find $(BUILD) -path $(BUILD)/measure -prune -o -type f -name '*.d' -print 2>/dev/null)
