/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_INSPECT_TYPES_H
#define RCORE_RUBY_INSPECT_TYPES_H

#include "ruby/inspect/inspect_private.h"

/*
 * The types of T_DATA of the core, its extensions and bundled gems that have an
 * `inspect` of their own, by the name in their rb_data_type_t. All others, as a
 * Mutex or a Queue, are printed as any object. The `inspect` of opaque types
 * prints fields that no table has, so rcore prints "#<Date ...>". To add a
 * type, add the file of rcore_inspect_NAME(), and its line here.
 */
#define RCORE_INSPECT_TYPES(TYPE)                          \
	TYPE("proc", proc)                                 \
	TYPE("method", method)                             \
	TYPE("VM/thread", thread)                          \
	TYPE("fiber", fiber)                               \
	TYPE("time", time)                                 \
	TYPE("encoding", encoding)                         \
	TYPE("enumerator", enumerator)                     \
	TYPE("arithmetic_sequence", enumerator)            \
	TYPE("chain", enumerators)                         \
	TYPE("product", enumerators)                       \
	TYPE("set", set)                                   \
	TYPE("dir", dir)                                   \
	TYPE("ARGF", opaque)                               \
	TYPE("AST/location", opaque)                       \
	TYPE("AST/node", opaque)                           \
	TYPE("BigDecimal", opaque)                         \
	TYPE("Date", opaque)                               \
	TYPE("IO::Buffer", opaque)                         \
	TYPE("ObjectSpace::InternalObjectWrapper", opaque) \
	TYPE("OpenSSL/CONF", opaque)                       \
	TYPE("OpenSSL/EVP_PKEY", opaque)                   \
	TYPE("OpenSSL/Engine", opaque)                     \
	TYPE("OpenSSL/Provider", opaque)                   \
	TYPE("OpenSSL/X509", opaque)                       \
	TYPE("OpenSSL/X509/NAME", opaque)                  \
	TYPE("Process::Status", opaque)                    \
	TYPE("Ruby::Box::Entry", opaque)                   \
	TYPE("StringScanner", opaque)                      \
	TYPE("T_IMEMO/iseq", opaque)                       \
	TYPE("digest", opaque)                             \
	TYPE("econv", opaque)                              \
	TYPE("fiddle/pointer", opaque)                     \
	TYPE("frame_info", opaque)                         \
	TYPE("ractor", opaque)                             \
	TYPE("ractor/port", opaque)                        \
	TYPE("socket/addrinfo", opaque)                    \
	TYPE("socket/ifaddr", opaque)                      \
	TYPE("stat", opaque)                               \
	TYPE("tracepoint", opaque)                         \
	TYPE("weakkeymap", opaque)                         \
	TYPE("weakmap", opaque)

/* `data` is the struct that the T_DATA wraps. */
#define RCORE_INSPECT_TYPE(type_name, function) rcore_inspect_wrapped rcore_inspect_##function;
RCORE_INSPECT_TYPES(RCORE_INSPECT_TYPE)

#endif
