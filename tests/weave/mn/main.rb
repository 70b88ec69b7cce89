# SPDX-License-Identifier: MIT
# Threads that share kernel threads; those that wait have none.
#: ext parked=3 since=3.3 variants=chain,fiber,thread env=RUBY_MN_THREADS=1
require_relative "../cases"
