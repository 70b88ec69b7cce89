# SPDX-License-Identifier: MIT

# A core file to damage: where its headers and notes are. 64-bit, little-endian.
class ElfCore
  EHDR = { type: [16, "S<"], machine: [18, "S<"], phoff: [32, "Q<"], phentsize: [54, "S<"], phnum: [56, "S<"] }.freeze
  PHDR = { type: [0, "L<"], offset: [8, "Q<"], vaddr: [16, "Q<"], filesz: [32, "Q<"], memsz: [40, "Q<"] }.freeze
  PT_LOAD = 1
  PT_NOTE = 4
  NT_PRSTATUS, NT_AUXV, NT_FILE = 1, 6, 0x46494c45

  Segment = Struct.new(:at, :type, :offset, :filesz)
  # at: of its header; size: all of it.
  Note = Struct.new(:at, :type, :size)

  attr_reader :size

  def initialize(path)
    @file = File.open(path, "rb")
    @size = @file.size
  end

  def segments
    @segments ||= Array.new(field(0, EHDR[:phnum])) do |index|
      at = field(0, EHDR[:phoff]) + index * field(0, EHDR[:phentsize])
      Segment.new(at, field(at, PHDR[:type]), field(at, PHDR[:offset]), field(at, PHDR[:filesz]))
    end
  end

  def notes
    @notes ||= segments.select { |segment| segment.type == PT_NOTE }.flat_map { |segment| notes_in(segment) }
  end

  # Where the headers and notes end.
  def head
    notes.map { |note| note.at + note.size }.max
  end

  private

  def notes_in(segment)
    at = segment.offset
    notes = []
    while at < segment.offset + segment.filesz
      name, description, type = @file.pread(12, at).unpack("L<3")
      size = 12 + round(name) + round(description)
      notes << Note.new(at, type, size)
      at += size
    end
    notes
  end

  def round(size)
    (size + 3) & ~3
  end

  def field(base, (offset, format))
    @file.pread([0].pack(format).size, base + offset).unpack1(format)
  end
end

# A core that is damaged while a block runs.
class Spoilable
  attr_reader :path, :elf

  def initialize(path)
    @path = path
    @elf = ElfCore.new(path)
    @file = File.open(path, "r+b")
  end

  # bytes: offset => bytes
  def with(bytes)
    before = bytes.map { |at, each| [at, @file.pread(each.size, at)] }
    bytes.each { |at, each| @file.pwrite(each.pack("C*"), at) }
    yield
  ensure
    before.reverse_each { |at, each| @file.pwrite(each, at) }
  end
end
