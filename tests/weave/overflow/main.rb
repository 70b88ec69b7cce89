# SPDX-License-Identifier: MIT
#: ext variants=native,yield folds=yes
require_relative "../deep"
