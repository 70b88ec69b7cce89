# SPDX-License-Identifier: MIT

# Without inlining, each call of ruby/children/ has a line of its own on the stack (tests/heap/rules.c).
RULES_SRC := $(call below,*.c,analyzer/ruby/children)
RULES_OBJ  = $(RULES_SRC:%.c=$(BUILD)/rules/%.o)
RULES_WRAP = -Wl,--wrap=rcore_child_read

$(RULES_OBJ) $(BUILD)/tests/heap/rules.o: override CFLAGS += -O1 -fno-inline -fno-optimize-sibling-calls -fno-ipa-icf -fno-crossjumping

$(BUILD)/rules/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(BUILD)/tests/heap/rules: $(BUILD)/tests/heap/rules.o $(RULES_OBJ) $(BUILD)/librcore.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(RULES_WRAP) -no-pie $^ -o $@ $(LDFLAGS) $(LIBS)
