# SPDX-License-Identifier: MIT

# The archive of `make dist` as a gem of its machine's platform: the static command serves glibc and musl.
# Other platforms get the source gem, which says what they need.
GEM         = rcore-$(VERSION)-$(MACHINE)-linux.gem
SOURCE_GEM  = rcore-$(VERSION).gem
GEM_STAGE   = $(STAGES)/gem-$(MACHINE)
SOURCE_STAGE = $(STAGES)/gem-source
GEM_SOURCES = Makefile mk analyzer plugin gdb lldb completion scripts ci rcore.pc.in
# $(call build_gem,FOLDER,FILE,PLATFORM)
build_gem   = cd $(1) && RCORE_VERSION=$(VERSION) $(3) gem build --quiet --silent -o '$(call absolute,$(DIST))/$(2)' rcore.gemspec

.PHONY: gem source-gem
gem: dist-machine ## build the gem of this machine into DIST=dist
	$(call say,GEM,$(DIST)/$(GEM))
	@rm -rf $(GEM_STAGE) && mkdir -p $(GEM_STAGE)
	$(Q)cp -r gem/exe gem/lib gem/rcore.gemspec LICENSE README.md $(GEM_STAGE)
	$(Q)cp -r $(STAGE) $(GEM_STAGE)/libexec
	$(Q)install -D -m755 ci/run $(GEM_STAGE)/libexec/ci/run
	$(Q)$(call build_gem,$(GEM_STAGE),$(GEM),RCORE_PLATFORM=$(MACHINE)-linux)

source-gem: ## build the gem that compiles rcore into DIST=dist
	$(call say,GEM,$(DIST)/$(SOURCE_GEM))
	@rm -rf $(SOURCE_STAGE) && mkdir -p $(SOURCE_STAGE)/source $(DIST)
	$(Q)cp -r gem/exe gem/lib gem/ext gem/rcore.gemspec LICENSE README.md $(SOURCE_STAGE)
	$(Q)cp -r $(GEM_SOURCES) $(SOURCE_STAGE)/source
	$(Q)find $(SOURCE_STAGE) -name __pycache__ -prune -exec rm -rf {} +
	$(Q)$(call build_gem,$(SOURCE_STAGE),$(SOURCE_GEM))
