// A Reader stays within the section and remembers a failure, so that damaged bytes end the reading. A Program runs the
// line-number opcodes and adds a row for each; each sequence is kept with its place.
#include "ptxas/line_table.h"

#include <algorithm>
#include <cstring>

namespace ptxopt::ptxas {
namespace {

// Standard opcodes of DWARF 2, and the extended ones that begin and end a sequence.
enum : uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kNegateStatement = 6,
  kBasicBlock = 7,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
};
enum : uint8_t { kEndSequence = 1, kSetAddress = 2 };

class Reader {
 public:
  Reader(std::string_view section, std::size_t at) : section_(section), at_(at) {}

  bool atEnd() const { return failed_ || at_ >= section_.size(); }
  std::size_t at() const { return at_; }
  void goTo(std::size_t at) { at_ = at; }
  void limitTo(std::size_t end) { section_ = section_.substr(0, std::min(end, section_.size())); }

  template <class T>
  T fixed() {
    T value{};
    if (failed_ || at_ > section_.size() || section_.size() - at_ < sizeof value) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, section_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t unsignedLeb() { return leb(false); }
  int64_t signedLeb() { return static_cast<int64_t>(leb(true)); }

 private:
  uint64_t leb(bool isSigned) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    do {
      byte = fixed<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
    } while ((byte & 0x80) != 0 && !failed_);
    if (isSigned && (byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
    return value;
  }

  std::string_view section_;
  std::size_t at_;
  bool failed_ = false;
};

struct Header {
  uint8_t unit = 1;  // bytes of the least instruction
  int8_t lineBase = 0;
  uint8_t lineRange = 1;
  uint8_t firstSpecial = 1;  // opcode
  std::vector<uint8_t> arguments;
};

class Program {
 public:
  Program(Reader& reader, Header header, std::vector<LineSequence>& all)
      : reader_(reader), header_(std::move(header)), all_(all) {}

  void run() {
    while (!reader_.atEnd()) step();
    finish();
  }

 private:
  void step() {
    const auto opcode = reader_.fixed<uint8_t>();
    if (opcode >= header_.firstSpecial) {
      advance((opcode - header_.firstSpecial) / header_.lineRange);
      line_ += header_.lineBase + (opcode - header_.firstSpecial) % header_.lineRange;
      return addRow();
    }
    switch (opcode) {
      case kExtended: return extended();
      case kCopy: return addRow();
      case kAdvancePc: return advance(reader_.unsignedLeb());
      case kAdvanceLine: line_ += reader_.signedLeb(); return;
      case kSetFile:
      case kSetColumn: reader_.unsignedLeb(); return;
      case kNegateStatement:
      case kBasicBlock: return;
      case kConstAddPc: return advance((255u - header_.firstSpecial) / header_.lineRange);
      case kFixedAdvancePc: at_ += reader_.fixed<uint16_t>(); return;
      default:
        for (unsigned i = 0; i < header_.arguments[opcode - 1]; ++i) reader_.unsignedLeb();
    }
  }

  void extended() {
    const uint64_t size = reader_.unsignedLeb();
    const std::size_t end = reader_.at() + static_cast<std::size_t>(size);
    switch (size == 0 ? 0 : reader_.fixed<uint8_t>()) {
      case kEndSequence:
        line_ = 0;
        addRow();
        finish();
        break;
      case kSetAddress:
        finish();
        sequence_.relocatedAt = reader_.at();
        at_ = reader_.fixed<uint64_t>();
        break;
      default: break;  // NVIDIA's own among them: inlined functions
    }
    reader_.goTo(end);
  }

  void advance(uint64_t units) { at_ += units * header_.unit; }
  void addRow() { sequence_.rows.push_back({at_, line_ > 0 ? static_cast<uint32_t>(line_) : 0}); }
  void finish() {
    if (!sequence_.rows.empty()) all_.push_back(std::move(sequence_));
    sequence_ = {};
    at_ = 0;
    line_ = 1;
  }

  Reader& reader_;
  const Header header_;
  std::vector<LineSequence>& all_;
  LineSequence sequence_;
  uint64_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace

std::vector<LineSequence> readLineTable(std::string_view section) {
  std::vector<LineSequence> all;
  for (std::size_t begin = 0; begin < section.size();) {
    Reader reader(section, begin);
    const auto length = reader.fixed<uint32_t>();
    const std::size_t end = begin + 4 + length;
    reader.limitTo(end);
    begin = end;
    if (reader.fixed<uint16_t>() != 2) continue;
    const auto headerLength = reader.fixed<uint32_t>();
    const std::size_t program = reader.at() + headerLength;
    Header header;
    header.unit = reader.fixed<uint8_t>();
    reader.fixed<uint8_t>();  // whether rows are statements
    header.lineBase = reader.fixed<int8_t>();
    header.lineRange = reader.fixed<uint8_t>();
    header.firstSpecial = reader.fixed<uint8_t>();
    if (header.lineRange == 0 || header.firstSpecial == 0) continue;
    for (unsigned i = 1; i < header.firstSpecial; ++i) header.arguments.push_back(reader.fixed<uint8_t>());
    reader.goTo(program);
    Program(reader, std::move(header), all).run();
  }
  return all;
}

uint32_t lineAt(const std::vector<LineRow>& rows, uint64_t at) {
  const auto after = std::ranges::upper_bound(rows, at, {}, &LineRow::at);
  return after == rows.begin() ? 0 : std::prev(after)->line;
}

}  // namespace ptxopt::ptxas
