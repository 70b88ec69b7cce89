# SPDX-License-Identifier: MIT

# The library as `make dist` builds it. A debugger of another system loads it,
# so it needs only an old C library, that of Debian 11, and contains all other
# libraries. `make setup-tests` makes the folder that it is built with;
# scripts/portable-libraries says what is in it.
PORTABLE_ROOT ?= $(CACHE)/libraries/portable-$(MACHINE)
PORTABLE_CC   ?= $(CC)
PORTABLE_INCLUDE = $(PORTABLE_ROOT)/usr/include
# -B: a compiler of this machine would find this machine's libraries first.
PORTABLE_LIBRARIES = $(PORTABLE_ROOT)/usr/lib/$(MACHINE)-linux-gnu
PORTABLE_LIBS = -Wl,-Bstatic -larchive -ldw -lelf -ljson-c -liberty -lbz2 -llzma -lzstd -llz4 -lz -Wl,-Bdynamic -lm -lpthread -ldl
PORTABLE_SO   = $(BUILD)/portable/$(SO)

.PHONY: portable
portable: ## build the library for debuggers of other systems
	@[ -d "$(PORTABLE_ROOT)" ] || { echo "no $(PORTABLE_ROOT): \`make setup-tests\` makes it"; exit 1; }
	@PKG_CONFIG_SYSROOT_DIR="$(PORTABLE_ROOT)" PKG_CONFIG_LIBDIR="$(PORTABLE_LIBRARIES)/pkgconfig" \
		$(MAKE) --no-print-directory BUILD=$(BUILD)/portable CFLAGS="-O2 -g" PKGS="json-c zlib" LIBS="$(PORTABLE_LIBS)" \
		LDFLAGS="-B$(PORTABLE_LIBRARIES) -L$(PORTABLE_LIBRARIES) -Wl,--dependency-file=$(PORTABLE_SO).libraries" \
		CC="$(PORTABLE_CC) --sysroot=$(PORTABLE_ROOT) -isystem $(PORTABLE_INCLUDE)/$(MACHINE)-linux-gnu -isystem $(PORTABLE_INCLUDE)" \
		$(PORTABLE_SO)
