# SPDX-License-Identifier: MIT

# The archive of `make dist` as a gem of this machine's platform: the static command serves glibc and musl.
GEM       = rcore-$(VERSION)-$(MACHINE)-linux.gem
GEM_STAGE = $(STAGES)/gem-$(MACHINE)

.PHONY: gem
gem: dist-machine ## build the gem of this machine into DIST=dist
	$(call say,GEM,$(DIST)/$(GEM))
	@rm -rf $(GEM_STAGE) && mkdir -p $(GEM_STAGE)
	$(Q)cp -r gem/. $(GEM_STAGE)
	$(Q)cp -r $(STAGE) $(GEM_STAGE)/libexec
	$(Q)install -D -m755 ci/run $(GEM_STAGE)/libexec/ci/run
	$(Q)install -m644 LICENSE README.md $(GEM_STAGE)
	$(Q)cd $(GEM_STAGE) && RCORE_VERSION=$(VERSION) RCORE_PLATFORM=$(MACHINE)-linux \
		gem build --quiet --silent -o $(abspath $(DIST))/$(GEM) rcore.gemspec
