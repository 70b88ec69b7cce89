# SPDX-License-Identifier: MIT

.PHONY: bench
bench: all ## measure time and memory, as ratios to eu-stack
	@RCORE=$(BUILD)/rcore tests/bench/run
	@tests/bench/peers
	@RCORE=$(BUILD)/rcore tests/bench/heap
	@RCORE=$(BUILD)/rcore tests/bench/sampler
	@RCORE=$(BUILD)/rcore tests/bench/bpf
	@RCORE=$(BUILD)/rcore tests/bench/bpf_functions
	@RCORE=$(BUILD)/rcore tests/bench/fleet
