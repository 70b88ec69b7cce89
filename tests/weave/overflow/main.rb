# SPDX-License-Identifier: MIT
#: ext variants=native,smallest,mutual,yield,rounds,fiber,thread,fiber_of_thread folds=yes
require_relative "../deep"
