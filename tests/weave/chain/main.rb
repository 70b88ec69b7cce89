# SPDX-License-Identifier: MIT
#: ext gdb=chain also=gcore variants=chain
require_relative "../cases"
