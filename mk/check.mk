# SPDX-License-Identifier: MIT

CHECK_SRC  := $(call below,check_*.c,tests/unit)
CHECKS      = $(CHECK_SRC:%.c=$(BUILD)/%)
SUPPORT_SRC := $(call below,*.c,tests/support)
SUPPORT_OBJ = $(SUPPORT_SRC:%.c=$(BUILD)/%.o)
SUPPORT_INCLUDE := $(patsubst %/,-I%,$(sort $(dir $(SUPPORT_SRC))))
CHECK_LIBS  = $(shell pkg-config --libs check)
SAN_FLAGS   = -DRCORE_FIELDS_BY_CALL=1 -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

$(SUPPORT_OBJ) $(CHECKS:%=%.o) $(BUILD)/tests/triage/write.o: override CPPFLAGS += $(SUPPORT_INCLUDE) -Iplugin $(shell pkg-config --cflags check)

# What a goal needs is built in parallel. Goals are not, because one may install
# what the next one needs.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
ifneq ($(filter setup setup-tests,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

.PHONY: setup setup-tests demo check check-quick check-long release-check check-unit check-programs san

setup: ## install what builds rcore and runs the demo (Debian, as root)
	@scripts/setup build

setup-tests: ## install what the tests need, with a folder for each Ruby
	@scripts/setup tests

demo: ## let a small Ruby program crash and analyze its core
	@$(MAKE) -s $(PARALLEL) all
	@examples/demo/run $(BUILD)/rcore

$(BUILD)/tests/support.a: $(SUPPORT_OBJ)
	$(Q)rm -f $@ && $(AR) qcsD $@ $^

# The plugin is tested through its ABI: the shared library alone.
$(BUILD)/tests/unit/plugin/check_plugin: $(BUILD)/tests/unit/plugin/check_plugin.o $(BUILD)/tests/support/suite.o $(BUILD)/tests/support/draw.o $(BUILD)/librcore.so
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(filter %.o,$^) -o $@ $(LDFLAGS) -L$(BUILD) '-Wl,-rpath,$(call absolute,$(BUILD))' -lrcore $(CHECK_LIBS)

$(filter-out %/check_plugin,$(CHECKS)): %: %.o $(BUILD)/tests/support.a $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(BUILD)/librcore.a -o $@ $(LDFLAGS) $(CHECK_LIBS) $(LIBS)

# What writes each format of each snapshot, for the schemas of others.
$(BUILD)/tests/triage/write: $(BUILD)/tests/triage/write.o $(BUILD)/tests/support.a $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(BUILD)/librcore.a -o $@ $(LDFLAGS) $(CHECK_LIBS) $(LIBS)

# Writes recordings with random samples.
$(BUILD)/tests/profile/write: $(BUILD)/tests/profile/write.o $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $^ -o $@ $(LDFLAGS) $(LIBS)

# What only the command has.
$(BUILD)/tests/unit/cli/check_jobs: $(BUILD)/analyzer/cli/jobs.o
$(BUILD)/tests/unit/command/check_command: $(filter-out %/main.o,$(CLI_OBJ)) $(BUILD)/analyzer/sampler/bpf/missing.o

check-programs: all $(CHECKS) $(BUILD)/tests/triage/write $(BUILD)/tests/profile/write $(BUILD)/tests/heap/rules steps-program

check: ## run all tests; installs nothing
	@$(MAKE) -s $(PARALLEL) check-programs replay-programs aarch64 static portable
	@BUILD=$(BUILD) tests/all

check-quick: ## run the essential tests: each part, on few cases, in under 3 minutes once all is built
	@$(MAKE) -s $(PARALLEL) check-programs replay-programs aarch64 static portable
	@BUILD=$(BUILD) tests/all --quick

# Runs for a day at most.
check-long: check-programs flips-program ## the same at length: running processes of each build, all that make check draws from, 10^6 instructions, 10,000 flips, 10^6 samples, 10^5 moments in BPF programs and STOPS=1000 for each Ruby, TREE=DIR of CRuby's tests; all that is published, twice
	@BUILD=$(BUILD) LIMIT=86400 FLIPS=10000 VARIANTS=all STEPS=1000000 SAMPLES=1000000 MARKS=100000 STOPS=$(or $(STOPS),1000) TREE="$(TREE)" tests/all live redaction aarch64 steps stops flips sampler bpf truth weave plugin lldb triage heap
	@BUILD=$(BUILD) tests/dist/twice.sh all
	@BUILD=$(BUILD) tests/dist/arm.sh $(BUILD)/rcore
	@BUILD=$(BUILD) tests/dist/source.sh

release-check: ## what a release must pass: all tests, and nothing unmeasured
	@RELEASE=1 VARIANTS=all $(MAKE) -s check

check-unit: check-programs ## run the unit tests alone
	@BUILD=$(BUILD) tests/all unit

san: ## run the unit and truth tests under ASan and UBSan
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/san CFLAGS="$(SAN_FLAGS)" check-programs
	@BUILD=$(BUILD)/san tests/all unit truth
