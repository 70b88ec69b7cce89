# SPDX-License-Identifier: MIT

FLIPS_OBJ  = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/*.c))
FLIPS_WRAP = -Wl,--wrap=rcore_read_field,--wrap=rcore_field_of_any,--wrap=rcore_ruby_init,--wrap=rcore_units_new
N         ?= 500

$(BUILD)/tests/fuzz/flips: $(FLIPS_OBJ) $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(FLIPS_WRAP) $^ -o $@ $(LDFLAGS) $(LIBS)

.PHONY: flips flips-program
flips: ## flip words of cores of each Ruby, analyze them under ASan and UBSan: N=500
	@BUILD=$(BUILD) tests/fuzz/run $(N)

flips-program:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/san CFLAGS="$(SAN_FLAGS)" $(BUILD)/san/tests/fuzz/flips
