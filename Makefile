# SPDX-License-Identifier: MIT
# `make help` lists the targets.

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
CC      ?= gcc
CFLAGS  ?= -O2 -g
PKGS     = libelf libdw json-c

VERSION := $(shell sed -n 's/.*RCORE_VERSION "\(.*\)"/\1/p' analyzer/rcore.h)
WARN     = -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wno-unused-parameter
override CFLAGS   += -std=gnu17 $(WARN) -fPIC -fvisibility=hidden -MMD -MP
override CPPFLAGS += -D_GNU_SOURCE -Ianalyzer -I$(BUILD)/gen $(shell pkg-config --cflags $(PKGS))
LIBS     = $(shell pkg-config --libs $(PKGS))

LIB_SRC  = $(wildcard analyzer/*.c $(foreach d,base target image layout model ruby vm weave triage report,analyzer/$d/*.c))
TABLES   = $(sort $(wildcard analyzer/layout/tables/*.layout))
CLI_SRC  = $(wildcard analyzer/cli/*.c)
PLUG_SRC = $(wildcard plugin/*.c)
LIB_OBJ  = $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/tables.o
CLI_OBJ  = $(CLI_SRC:%.c=$(BUILD)/%.o)
PLUG_OBJ = $(PLUG_SRC:%.c=$(BUILD)/%.o)

.PHONY: all help clean
all: $(BUILD)/rcore $(BUILD)/librcore.so $(BUILD)/librcore.a ## build the library, the command and the bridge

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# The tables as C strings, so that the library needs no files at run time.
$(BUILD)/gen/tables.c: $(TABLES)
	@mkdir -p $(@D)
	@{ echo '#include "layout/tables.h"'; echo 'const struct rcore_layout_table rcore_layout_tables[] = {'; \
	for t in $(TABLES); do echo "{\"$$(basename $$t .layout)\","; \
	sed 's/["\\]/\\&/g; s/.*/"&\\n"/' $$t; echo '},'; done; echo '{0}};'; } > $@

$(BUILD)/gen/tables.o: $(BUILD)/gen/tables.c
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(BUILD)/librcore.a: $(LIB_OBJ)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/librcore.so: $(LIB_OBJ) $(PLUG_OBJ)
	$(CC) $(CFLAGS) -shared -Wl,-soname,librcore.so.0 $^ -o $@ $(LDFLAGS) $(LIBS)

$(BUILD)/rcore: $(CLI_OBJ) $(BUILD)/librcore.a
	$(CC) $(CFLAGS) $^ -o $@ $(LDFLAGS) $(LIBS)

clean: ## remove what was built
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
