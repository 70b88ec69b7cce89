# SPDX-License-Identifier: MIT

# Each tests/fuzz/targets/fuzz_NAME.c is a program: with libFuzzer by `make fuzz`, otherwise with a driver that replays
# the corpus, under gcc too.
FUZZ_NAMES  = $(patsubst tests/fuzz/targets/fuzz_%.c,%,$(wildcard tests/fuzz/targets/fuzz_*.c))
FUZZ_BUILD  = $(BUILD)/fuzz
FUZZ_CLANG ?= $(lastword $(sort $(notdir $(wildcard /usr/bin/clang /usr/bin/clang-[0-9]*))))
FUZZ_FLAGS  = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all -Wno-unknown-warning-option -DFUZZ_MUTATOR
FUZZ_LINK   = $(CC) $(CFLAGS) $^ -o $@ $(LDFLAGS) $(FUZZ_ENGINE) $(LIBS)
SECONDS    ?= 60

$(BUILD)/tests/fuzz/targets/fuzz_%: $(BUILD)/tests/fuzz/targets/fuzz_%.o $(BUILD)/tests/fuzz/targets/file.o $(FUZZ_MAIN) $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(FUZZ_LINK)

# These read a process in fake memory.
$(BUILD)/tests/fuzz/targets/fuzz_heap: $(addprefix $(BUILD)/tests/support/,fake/fake_target.o fake/fake_ruby.o fake/fake_ivar.o fake/fake_values.o fake/fake_vm.o referrers.o)
$(BUILD)/tests/fuzz/targets/fuzz_module: $(BUILD)/tests/support/fake/fake_target.o
$(BUILD)/tests/fuzz/targets/fuzz_heap.o $(BUILD)/tests/fuzz/targets/fuzz_module.o: override CPPFLAGS += $(SUPPORT_INCLUDE)

.PHONY: fuzz fuzz-programs replay-programs

fuzz-programs: $(FUZZ_NAMES:%=$(BUILD)/tests/fuzz/targets/fuzz_%)

# Depends on flips-program because both build the library in $(BUILD)/san, so they must not run at the same time.
replay-programs: flips-program
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/san CFLAGS="$(SAN_FLAGS)" \
		FUZZ_MAIN=$(BUILD)/san/tests/fuzz/targets/driver.o fuzz-programs

fuzz: ## look for inputs that break rcore, with clang's libFuzzer: SECONDS=60 for each, TARGETS="core decode ..."
	@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		$(or $(FUZZ_CLANG),false) -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null || \
		{ echo 'no clang with libFuzzer: run apt-get install clang libclang-rt-dev'; exit 1; }
	@$(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) CC=$(FUZZ_CLANG) CFLAGS="$(FUZZ_FLAGS)" \
		FUZZ_ENGINE=-fsanitize=fuzzer fuzz-programs
	@FUZZ_BUILD=$(FUZZ_BUILD) tests/fuzz/fuzz $(SECONDS) $(or $(TARGETS),$(FUZZ_NAMES))
