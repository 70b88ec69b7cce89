# SPDX-License-Identifier: MIT

# What is published: for each machine the static command, alone and in an archive with what
# debuggers load. Equal sources make equal files, in whatever folder they are built.
DIST    ?= dist
MACHINE  = $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ARCHIVE  = rcore-$(VERSION)-$(MACHINE)-linux
STRIP   ?= strip
STAGES   = $(BUILD)/stage
STAGE    = $(STAGES)/$(ARCHIVE)
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date -r analyzer/base/version.h +%s)
TAR      = tar --format=gnu --sort=name --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner --mode=go=u-w

.PHONY: dist dist-machine
dist: dist-machine $(if $(filter x86_64,$(MACHINE)),aarch64-dist) ## build what is published into DIST=dist

dist-machine: $(BUILD)/static/rcore $(BUILD)/$(SO) $(NATIVE)
	@rm -rf $(STAGE) && mkdir -p $(STAGE) $(DIST)
	$(call say,DIST,$(DIST)/$(ARCHIVE))
	$(Q)$(MAKE) -s PREFIX= DESTDIR=$(STAGE) COMMAND=$< install-command install-debuggers install-manual install-completion
	$(Q)$(STRIP) --strip-unneeded $(STAGE)/lib/$(SO)
	$(Q)install -D -m644 LICENSE $(STAGE)/share/doc/rcore/LICENSE
	$(Q)install -m755 $< $(DIST)/$(ARCHIVE)
	$(Q)$(TAR) -C $(STAGES) -c $(ARCHIVE) | gzip -9n > $(DIST)/$(ARCHIVE).tar.gz
