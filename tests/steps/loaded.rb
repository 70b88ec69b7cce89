# SPDX-License-Identifier: MIT
$steps = [1, 2].map { |number| number + 1 }
