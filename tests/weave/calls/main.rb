# SPDX-License-Identifier: MIT
#: ext gdb=segv+thread variants=fiber,thread,segv,at_exit,trap,free,finalizer,init
require_relative "../cases"
