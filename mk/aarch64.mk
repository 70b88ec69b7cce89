# SPDX-License-Identifier: MIT

# The libraries of 64-bit ARM, where `make setup-tests` unpacks them.
CACHE         = $(or $(RCORE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rcore)
AARCH64_ROOT ?= $(CACHE)/libraries/aarch64
AARCH64_CC   ?= $(filter %ccache,$(CC)) aarch64-linux-gnu-gcc
AARCH64_PKG   = PKG_CONFIG_SYSROOT_DIR="$(AARCH64_ROOT)" \
	PKG_CONFIG_LIBDIR="$(AARCH64_ROOT)/usr/lib/aarch64-linux-gnu/pkgconfig:$(AARCH64_ROOT)/usr/share/pkgconfig"
# Its C library's own headers, before those of a newer cross compiler.
AARCH64_HEADERS = $(patsubst %,-isystem $(AARCH64_ROOT)/usr/include%,/aarch64-linux-gnu /)

# Its goals, in make's own environment for them.
AARCH64_GOALS = aarch64=all aarch64-static=static aarch64-dist=gem

.PHONY: aarch64 aarch64-static aarch64-dist
aarch64: ## cross-build the command and the library for 64-bit ARM
aarch64-static: ## cross-build the static command
aarch64-dist: $(BUILD)/rcore
aarch64 aarch64-static aarch64-dist:
	@[ -d "$(AARCH64_ROOT)" ] || { echo "no $(AARCH64_ROOT): \`make setup-tests\` makes it"; exit 1; }
	@$(AARCH64_PKG) $(MAKE) --no-print-directory BUILD=$(BUILD)/aarch64 CFLAGS="-O2 -g" \
		CC="$(strip $(AARCH64_CC)) --sysroot=$(AARCH64_ROOT) $(AARCH64_HEADERS)" AR=aarch64-linux-gnu-ar STRIP=aarch64-linux-gnu-strip NATIVE=$(BUILD)/rcore \
		PORTABLE_CC="$(strip $(AARCH64_CC))" PORTABLE_ROOT="$(CACHE)/libraries/portable-aarch64" LIBRARIES_ROOT="$(AARCH64_ROOT)" \
		$(patsubst $@=%,%,$(filter $@=%,$(AARCH64_GOALS)))
