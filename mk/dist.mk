# SPDX-License-Identifier: MIT

# What is published: for each machine the static command, alone and in an archive with what
# debuggers load. Equal sources make equal files, in whatever folder they are built.
DIST    ?= dist
# Empty, and without a message, until `make setup` has installed the compiler.
MACHINE  = $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ARCHIVE  = rcore-$(VERSION)-$(MACHINE)-linux
STRIP   ?= strip
STAGES  ?= $(BUILD)/stage
STAGE    = $(STAGES)/$(ARCHIVE)
LICENCES = share/doc/rcore/LICENCES-OF-LIBRARIES
SOURCE_DATE_EPOCH ?= $(call once,SOURCE_DATE_EPOCH,git log -1 --format=%ct 2>/dev/null || date -r analyzer/base/version.h +%s)
export SOURCE_DATE_EPOCH
TAR      = tar --format=gnu --sort=name --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner --mode=go=u-w

# The machines that this one builds for.
OTHERS   = $(if $(filter x86_64,$(MACHINE)),aarch64-dist)

.PHONY: dist dist-machine
dist: gem source-gem $(OTHERS) ## build what is published into DIST=dist

dist-machine: $(BUILD)/static/rcore portable $(NATIVE)
	@rm -rf $(STAGE) && mkdir -p $(STAGE) $(DIST)
	$(call say,DIST,$(DIST)/$(ARCHIVE))
	$(Q)$(MAKE) -s PREFIX= DESTDIR=$(STAGE) COMMAND=$< LIBRARY=$(PORTABLE_SO) \
		install-command install-debuggers install-headers install-manual install-completion
	$(Q)$(STRIP) --strip-unneeded $(STAGE)/lib/$(SO)
	$(Q)install -D -m644 LICENSE $(STAGE)/share/doc/rcore/LICENSE
	$(Q)scripts/notices $(LIBRARIES_ROOT)=$<.libraries $(PORTABLE_ROOT)=$(PORTABLE_SO).libraries > $(STAGE)/$(LICENCES)
	$(Q)install -m755 $< $(DIST)/$(ARCHIVE)
	$(Q)install -m644 $(STAGE)/$(LICENCES) $(DIST)/$(ARCHIVE).licences
	$(Q)$(TAR) -C $(STAGES) -c $(ARCHIVE) | gzip -9n > $(DIST)/$(ARCHIVE).tar.gz
