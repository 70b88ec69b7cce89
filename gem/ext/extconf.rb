# frozen_string_literal: true
# SPDX-License-Identifier: MIT

# Builds the source gem, on a platform that has no gem of its own, or where one is built from its sources by
# choice. Says what is missing before anything is compiled.
require "rbconfig"

machine, system = RbConfig::CONFIG.values_at("host_cpu", "host_os")
unless system.include?("linux") && %w[x86_64 aarch64].include?(machine)
  abort "rcore: runs on Linux, on x86-64 and 64-bit ARM, not on #{machine}-#{system}; copy the core to such a machine"
end

PROGRAMS = %w[gcc make awk pkg-config protoc-c].freeze
LIBRARIES = %w[libelf libdw json-c zlib libprotobuf-c].freeze
# What has no file of pkg-config that works in every release.
HEADERS = %w[archive.h libiberty/demangle.h uthash.h xxhash.h].freeze
PACKAGES = "Debian, Ubuntu: gcc make pkg-config libelf-dev libdw-dev libjson-c-dev uthash-dev libxxhash-dev libdeflate-dev libarchive-dev " \
           "libiberty-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler"

def quiet?(*command)
  system(*command, in: File::NULL, out: File::NULL, err: File::NULL)
end

missing = PROGRAMS.reject { |program| quiet?("sh", "-c", "command -v #{program}") }
missing += LIBRARIES.reject { |library| quiet?("pkg-config", library) }
missing += HEADERS.reject { |header| quiet?("sh", "-c", "echo '#include <#{header}>' | gcc -E -include stddef.h -") }
unless missing.empty?
  abort <<~TEXT
    rcore: cannot be built from its sources here, without: #{missing.join(", ")}
    The gems rcore-VERSION-x86_64-linux and rcore-VERSION-aarch64-linux need no compiler. Install one of these, or
    install these packages:
    #{PACKAGES}
  TEXT
end

# What `gem install` runs. The variables that RubyGems sets for make must not reach the build.
File.write("Makefile", <<~MAKE)
  SOURCE = env -u MAKEFLAGS -u DESTDIR -u BUILD $(MAKE) -C ../source PREFIX= DESTDIR="$(CURDIR)/../libexec"
  all:
  \t$(SOURCE) -j2 all
  \t$(SOURCE) -s install-command install-headers install-debuggers install-manual install-completion
  \tmkdir -p ../libexec/ci && cp ../source/ci/run ../libexec/ci/run
  \trm -rf ../source/build
  install:
  clean:
MAKE
