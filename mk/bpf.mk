# SPDX-License-Identifier: MIT

# `rcore record --ebpf` needs clang, bpftool and libbpf to build, and libbpf to run. If one is missing,
# or with `make BPF=`, the option prints that rcore was built without it (missing.c).
BPF_CLANG ?= $(lastword $(sort $(wildcard /usr/bin/clang /usr/bin/clang-[0-9][0-9])))
BPFTOOL   ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool))
# Not ?=, so that rules and recipes agree even if a goal installs these.
ifeq ($(origin BPF),undefined)
BPF       := $(if $(BPF_CLANG),$(if $(BPFTOOL),$(shell pkg-config --exists libbpf 2>/dev/null && echo yes)))
endif
BPF_LIBS   = $(if $(BPF),$(shell pkg-config --libs libbpf))
BPF_OBJ    = $(BUILD)/analyzer/sampler/bpf/$(if $(BPF),loader,missing).o
BPF_GEN    = $(BUILD)/gen/sampler/bpf/sample
# -idirafter: Debian has <asm/types.h>, which <linux/bpf.h> includes, in the machine's own folder.
BPF_FLAGS  = --target=bpf -mcpu=v2 -O2 -g -Wall -Wextra -Wno-unused-parameter '-ffile-prefix-map=$(CURDIR)=.' \
	-Ianalyzer -idirafter /usr/include/$(MACHINE)-linux-gnu -MMD -MP -MF $(BPF_GEN).d -MT $(BPF_GEN).bpf.o

# Rewritten when BPF is switched on or off, so that rcore is linked again.
BPF_USED   = $(BUILD)/bpf-used
ifneq ($(shell cat $(BPF_USED) 2>/dev/null),$(BPF_OBJ))
.PHONY: $(BPF_USED)
endif
$(BPF_USED):
	@mkdir -p $(@D) && echo '$(BPF_OBJ)' > $@

$(BUILD)/rcore: $(BPF_OBJ) $(BPF_USED)

$(BPF_GEN).bpf.o: analyzer/sampler/bpf/sample.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(BPF_CLANG) $(BPF_FLAGS) -c $< -o $@.tmp && $(BPFTOOL) gen object $@ $@.tmp && rm $@.tmp

$(BPF_GEN).skel.h: $(BPF_GEN).bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name sample > $@

$(BUILD)/analyzer/sampler/bpf/loader.o: $(BPF_GEN).skel.h
