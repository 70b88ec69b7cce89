# SPDX-License-Identifier: MIT

# The system calls that the benchmarks need and that no program of Debian makes.
module KernelCalls
  ARM = RbConfig::CONFIG["host_cpu"] == "aarch64"
  BPF = ARM ? 280 : 321
  PERF_EVENT_OPEN = ARM ? 241 : 298
  IOCTL_SET_BPF = 0x40042408
  # From <linux/bpf.h> and <linux/perf_event.h>.
  MAP_GET_NEXT_KEY, PROG_LOAD, MAP_GET_FD_BY_ID, ENABLE_STATS = 4, 5, 14, 32
  TYPE_PERF_EVENT = 7
  SOFTWARE, CPU_CLOCK = 1, 0

  module_function

  # The address of a String's bytes.
  def address(bytes) = [bytes].pack("p").unpack1("q")

  def call(command, attributes)
    attributes = attributes.ljust(128, "\0")
    syscall(BPF, command, address(attributes), attributes.bytesize)
  end

  def bpf(command, attributes) = IO.for_fd(call(command, attributes))

  # Opens a map of another process by its id, which is in the fdinfo.
  def map(id) = bpf(MAP_GET_FD_BY_ID, [id].pack("L"))

  # Counts the keys of a map, which have four bytes each.
  def count_keys(map)
    key, following = nil, "\0" * 4
    count = 0
    loop do
      call(MAP_GET_NEXT_KEY, [map.fileno, 0, key ? address(key) : 0, address(following)].pack("LLqq"))
      key = following.dup
      count += 1
    rescue Errno::ENOENT
      return count
    end
  end

  # The kernel keeps statistics of BPF programs until this file is closed.
  def statistics = bpf(ENABLE_STATS, [0].pack("L"))

  # Loads a program that returns at once: r0 = 0; exit.
  def empty_program
    code = [0xb7, 0, 0, 0, 0x95, 0, 0, 0].pack("CCsl" * 2)
    license = "GPL\0"
    bpf(PROG_LOAD, [TYPE_PERF_EVENT, 2, address(code), address(license), 0, 0, 0].pack("LLqqLLq"))
  end

  # Opens a perf event on a processor that runs the program, as rcore does.
  # Returns nil if the processor is offline.
  def attach(program, processor, rate)
    attributes = [SOFTWARE, 128, CPU_CLOCK, 1_000_000_000 / rate].pack("LLQQ").ljust(128, "\0")
    event = IO.for_fd(syscall(PERF_EVENT_OPEN, address(attributes), -1, processor, -1, 8))
    event.ioctl(IOCTL_SET_BPF, program.fileno)
    event
  rescue Errno::ENODEV
    nil
  end
end
