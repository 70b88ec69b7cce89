# SPDX-License-Identifier: MIT

PREFIX  ?= /usr/local
DESTDIR ?=
LIBDIR  ?= $(PREFIX)/lib
DATADIR  = $(PREFIX)/share/rcore
# The command and the library that are installed.
COMMAND ?= $(BUILD)/rcore
LIBRARY ?= $(BUILD)/$(SO)
# The libruby files with which the GDB of PREFIX is to load the plugin by itself.
AUTOLOAD ?= $(if $(filter /usr,$(PREFIX)),$(wildcard /usr/lib/*/libruby*.so.*.*.*))
# What is installed: rcore.h and what it includes. tests/install/api holds it to what a caller needs.
HEADERS  = $(shell $(CC) -std=gnu17 -Ianalyzer -MM analyzer/rcore.h | tr -d '\\' | tr ' ' '\n' | sed -n 's|^analyzer/||p' | sort -u)

SCRIPTS  := $(call below,*.py,plugin gdb lldb)

# A command that runs here, which prints the manual.
NATIVE  ?= $(BUILD)/rcore
MANUAL   = $(PREFIX)/share/man/man1
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS  ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d

INSTALLED = command library headers development debuggers manual completion
.PHONY: install uninstall $(INSTALLED:%=install-%)
install: $(INSTALLED:%=install-%) ## install under PREFIX (honours DESTDIR)

install-command: $(COMMAND)
	install -D -m755 $(COMMAND) "$(DESTDIR)$(PREFIX)/bin/rcore"

# Programs find the library in a folder such as /usr/local/lib through the list
# that ldconfig writes, as root.
install-library: $(LIBRARY)
	install -D -m755 $(LIBRARY) "$(DESTDIR)$(LIBDIR)/$(SO)"
	$(LDCONFIG)

LDCONFIG = $(if $(DESTDIR),,@[ "$$(id -u)" != 0 ] || PATH="$$PATH:/sbin:/usr/sbin" ldconfig || echo 'run ldconfig, so that programs find $(SO)' >&2)

# What is needed to build programs that use the library.
install-development: $(BUILD)/librcore.a install-headers
	install -D -m644 $(BUILD)/librcore.a "$(DESTDIR)$(LIBDIR)/librcore.a"
	install -d "$(DESTDIR)$(LIBDIR)/pkgconfig"
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|; s|@VERSION@|$(VERSION)|; s|@DEFLATE@|$(if $(DEFLATE), libdeflate)|' rcore.pc.in \
		> "$(DESTDIR)$(LIBDIR)/pkgconfig/rcore.pc"

install-headers: install-library
	ln -sf $(SO) "$(DESTDIR)$(LIBDIR)/librcore.so"
	for h in $(HEADERS); do \
		install -D -m644 analyzer/$$h "$(DESTDIR)$(PREFIX)/include/rcore/$$h" || exit 1; done
	install -D -m644 plugin/rcore_plugin.h "$(DESTDIR)$(PREFIX)/include/rcore/rcore_plugin.h"
	install -D -m644 analyzer/model/ruby.bpf.h "$(DESTDIR)$(PREFIX)/include/rcore/ruby.bpf.h"

install-debuggers: install-library
	for f in $(SCRIPTS); do \
		install -D -m644 $$f "$(DESTDIR)$(DATADIR)/$$f" || exit 1; done
	for f in $(AUTOLOAD); do \
		install -D -m644 gdb/auto-load.py "$(DESTDIR)$(PREFIX)/share/gdb/auto-load$$f-gdb.py" || exit 1; done

install-manual: $(NATIVE)
	install -d "$(DESTDIR)$(MANUAL)"
	$(NATIVE) manual > "$(DESTDIR)$(MANUAL)/rcore.1"
	for c in $$($(NATIVE) complete help '' | cut -f 1); do \
		$(NATIVE) manual $$c > "$(DESTDIR)$(MANUAL)/rcore-$$c.1" || exit 1; done

install-completion:
	install -D -m644 completion/rcore.bash "$(DESTDIR)$(BASH_COMPLETIONS)/rcore"
	install -D -m644 completion/_rcore "$(DESTDIR)$(ZSH_COMPLETIONS)/_rcore"
	install -D -m644 completion/rcore.fish "$(DESTDIR)$(FISH_COMPLETIONS)/rcore.fish"

# The libruby files may be others than when rcore was installed.
uninstall: ## remove what `make install` installed, with the same PREFIX
	rm -f "$(DESTDIR)$(PREFIX)/bin/rcore" "$(DESTDIR)$(LIBDIR)/$(SO)" "$(DESTDIR)$(LIBDIR)/librcore.so" "$(DESTDIR)$(LIBDIR)/librcore.a" "$(DESTDIR)$(LIBDIR)/pkgconfig/rcore.pc"
	rm -rf "$(DESTDIR)$(PREFIX)/include/rcore" "$(DESTDIR)$(DATADIR)"
	rm -f "$(DESTDIR)$(MANUAL)/rcore.1" "$(DESTDIR)$(MANUAL)"/rcore-*.1
	rm -f "$(DESTDIR)$(BASH_COMPLETIONS)/rcore" "$(DESTDIR)$(ZSH_COMPLETIONS)/_rcore" "$(DESTDIR)$(FISH_COMPLETIONS)/rcore.fish"
	for f in "$(DESTDIR)$(PREFIX)/share/gdb/auto-load"/usr/lib/*/libruby*-gdb.py; do \
		! grep -qs rcore-gdb.py "$$f" || rm -f "$$f"; done
	$(LDCONFIG)
