# SPDX-License-Identifier: MIT

# The command as one file that needs no library of the machine, only /proc. Of libarchive and
# libdw, rcore uses what needs no more than these.
STATIC_LIBS = $(BPF_LIBS) -larchive -ldw -lelf -ljson-c -lprotobuf-c -liberty -lbz2 -llzma -lzstd -llz4 -lz -lm
# What would load libraries while it runs; analyzer/cli/static/ has the replacements. The linker
# warns of every other function that would.
STATIC_WRAP = -Wl,--wrap=dlopen,--wrap=getpwuid_r,--wrap=iconv_open -Wl,--fatal-warnings
STATIC_OBJ  = $(patsubst %.c,$(BUILD)/%.o,$(wildcard analyzer/cli/static/*.c))

.PHONY: static
static: $(BUILD)/static/rcore ## link the command into one file that runs on any Linux

$(BUILD)/static/rcore: $(CLI_OBJ) $(STATIC_OBJ) $(BPF_OBJ) $(BUILD)/librcore.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -static-pie -s -Wl,-z,relro,-z,now $(STATIC_WRAP) -Wl,--dependency-file=$@.libraries \
		$^ -o $@ $(LDFLAGS) $(STATIC_LIBS)
