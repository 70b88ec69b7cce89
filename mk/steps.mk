# SPDX-License-Identifier: MIT

STEPS_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/steps/*.c))
STEPS     ?= 100000
STEPS_WRAP = -Wl,--wrap=rcore_units_new

$(BUILD)/tests/steps/steps: $(STEPS_OBJ) $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(STEPS_WRAP) $^ -o $@ $(LDFLAGS) $(LIBS)

.PHONY: steps steps-program
steps: ## analyze programs at each of their first STEPS=100000 instructions
	@BUILD=$(BUILD) STEPS=$(STEPS) tests/steps/run

# The tracer knows one machine's registers.
steps-program: $(if $(filter x86_64,$(MACHINE)),$(BUILD)/tests/steps/steps)
