# SPDX-License-Identifier: MIT

LINT_C  = $(wildcard $(shell git ls-files -co --exclude-standard '*.c' '*.h'))
LINT_SH = $(shell git ls-files -co --exclude-standard | xargs -r grep -lE '^\#!/bin/sh' 2>/dev/null)
LINT_RB = $(wildcard $(shell git ls-files -co --exclude-standard '*.rb'))
LINT_PY = $(wildcard $(shell git ls-files -co --exclude-standard '*.py'))
LINT_COLUMNS = $(filter analyzer/% plugin/% gdb/% lldb/% examples/%,$(LINT_C) $(LINT_PY))
CPPCHECK = cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -j2 \
	--enable=warning,performance,portability --suppress=memleak \
	--cppcheck-build-dir=$(BUILD)/cppcheck -D_GNU_SOURCE '-DSEC(name)=' -Ianalyzer $(SUPPORT_INCLUDE)

.PHONY: lint lint-house lint-circles lint-format lint-c lint-scripts tables
lint: lint-house lint-circles lint-format lint-c lint-scripts ## check layers, style, and C, shell, Ruby and Python for mistakes

# The sources that are in a list. mk/bpf.mk and mk/static.mk name theirs.
LISTED = $(LIB_SRC) $(CLI_SRC) $(PLUG_SRC) $(CHECK_SRC) $(SUPPORT_SRC) $(SCRIPTS) $(PROTOS) \
	$(addprefix analyzer/sampler/bpf/,loader.c missing.c sample.bpf.c) $(addprefix analyzer/cli/static/,plugins.c search_trees.c)

# All of these, also if one finds something.
lint-house:
	@status=0; \
	awk -f tests/lint/layers.awk $(call below,*.[ch],analyzer) || status=1; \
	tests/lint/sources.sh $(LISTED) || status=1; \
	for check in $(filter-out %/files.sh %/sources.sh,$(wildcard tests/lint/*.sh)); do $$check || status=1; done; \
	LC_ALL=C awk -f tests/lint/columns.awk $(LINT_COLUMNS) || status=1; \
	ruby tests/lint/programs.rb || status=1; \
	ruby tests/lint/tour.rb || status=1; \
	ruby tests/lint/constants.rb || status=1; \
	exit $$status

lint-circles: $(LIB_OBJ) $(CLI_OBJ) $(PLUG_OBJ)
	@tests/lint/circles.rb $^

# Each release of these lays code out, or complains, in its own way: those of Debian 12 do
# it. $(call if_release,PROGRAM,ITS RELEASE,COMMAND)
if_release = case $$($(1) --version) in \
	*' $(2)'*) $(3) ;; \
	*) echo "lint: nothing checked with $(1): it takes release $(2)" ;; \
	esac

lint-format:
	@$(call if_release,clang-format,14.,clang-format --dry-run --Werror $(LINT_C) || { echo "lint: clang-format -i FILE formats a file"; exit 1; })

# tests/unit/image/programs/target.c crashes in every way on purpose; cppcheck does not know the addresses of labels in interpreter.c.
lint-c:
	@mkdir -p $(BUILD)/cppcheck
	@$(call if_release,cppcheck,2.10,$(CPPCHECK) $(filter-out tests/unit/image/programs/target.c tests/unit/image/programs/interpreter.c,$(filter %.c,$(LINT_C))))

lint-scripts:
	@if command -v shellcheck >/dev/null; then shellcheck -S warning $(LINT_SH); \
	else echo "lint: shell scripts not checked: install shellcheck"; fi
	@ruby -e 'ARGV.each { |file| RubyVM::InstructionSequence.compile_file(file) }' $(LINT_RB)
	@[ -z "$(LINT_PY)" ] || python3 -c 'import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]' $(LINT_PY)

tables: $(BUILD)/rcore ## remake the layout tables from builds with DWARF: RUBIES="FILE..."
	@[ -n "$(RUBIES)" ] || { echo 'which? make tables RUBIES="FILE..."'; exit 1; }
	@rm -rf $(BUILD)/tables && mkdir -p $(BUILD)/tables
	@set -e; n=0; for file in $(RUBIES); do \
		n=$$((n + 1)); \
		$(BUILD)/rcore layout "$$file" >$(BUILD)/tables/$$n.layout; \
	done
	@scripts/merge-tables $(BUILD)/tables
