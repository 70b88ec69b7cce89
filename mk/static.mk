# SPDX-License-Identifier: MIT

# The command as one file that needs no library of the machine, only /proc. What rcore uses of
# libarchive and libdw needs only these libraries.
STATIC_LIBS = $(BPF_LIBS) -larchive -ldw -lelf $(STATIC_ELF) -ljson-c -lprotobuf-c -liberty -lbz2 -llzma -lzstd -llz4 -lz $(if $(DEFLATE),-ldeflate) -lm
# What would load libraries while it runs; analyzer/cli/static/ has the replacements. The linker
# warns of every other function that would.
STATIC_WRAP = -Wl,--wrap=dlopen,--wrap=getpwuid_r,--wrap=iconv_open -Wl,--fatal-warnings
STATIC_OBJ  = $(BUILD)/analyzer/cli/static/plugins.o
# An archive that follows libelf.a: the linker takes from it only what libelf.a lacks.
STATIC_ELF  = $(BUILD)/static/search_trees.a

.PHONY: static
static: $(BUILD)/static/rcore ## link the command into one file that runs on any Linux

$(STATIC_ELF): $(BUILD)/analyzer/cli/static/search_trees.o
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) qcsD $@ $^

$(BUILD)/static/rcore: $(CLI_OBJ) $(STATIC_OBJ) $(BPF_OBJ) $(BUILD)/librcore.a $(STATIC_ELF)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -static-pie -s -Wl,-z,relro,-z,now $(STATIC_WRAP) -Wl,--dependency-file=$@.libraries \
		$(filter-out $(STATIC_ELF),$^) -o $@ $(LDFLAGS) $(STATIC_LIBS)
