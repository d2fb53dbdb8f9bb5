// A Reader descends from archives to ELF files to fat binaries and checks each length against the bytes at hand. A
// failure is thrown with its place in the file and becomes a Broken at the border.
#include "container/built_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace ptxopt::container {
namespace {

constexpr std::string_view kArchive = "!<arch>\n", kThinArchive = "!<thin>\n", kFatBytes = "\x50\xed\x55\xba";
constexpr uint16_t kMachineCuda = 190;     // EM_CUDA
constexpr unsigned char kNewFlagsAbi = 8;  // the ABI version from which on the architecture is in bits 8 to 15
constexpr std::size_t kFatAlignment = 8;   // of fat binaries in a section
constexpr std::size_t kContainerHeader = 16;

struct Failed {
  std::string message;
};

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  std::vector<Module> read() {
    if (file_.starts_with(kThinArchive))
      throw Failed{"a thin archive has no code: its members are files of their own"};
    if (file_.starts_with(kArchive))
      readArchive();
    else
      readObject(file_, "");
    return std::move(modules_);
  }

 private:
  uint64_t at(std::string_view part) const { return static_cast<uint64_t>(part.data() - file_.data()); }

  [[noreturn]] void fail(std::string_view part, std::string_view what) const {
    throw Failed{fmt::format("{}{} (at byte {})", member_.empty() ? "" : member_ + ": ", what, at(part))};
  }

  template <class T>
  T get(std::string_view part, uint64_t offset, std::string_view what) const {
    T value;
    if (offset > part.size() || part.size() - offset < sizeof value)
      fail(part, fmt::format("the file is cut short: there is no {}", what));
    std::memcpy(&value, part.data() + offset, sizeof value);
    return value;
  }

  void readObject(std::string_view part, const std::string& member) {
    member_ = member;
    if (part.starts_with(ELFMAG))
      readElf(part);
    else if (part.starts_with(kFatBytes))
      readFat(part, false, false);
  }

  // ---- archives ----

  struct MemberHeader {
    char name[16], date[12], user[6], group[6], mode[8], size[10], end[2];
  };
  static_assert(sizeof(MemberHeader) == 60);

  static std::string_view field(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

  static std::optional<uint64_t> number(std::string_view text) {
    text = field(text);
    uint64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(n) : std::nullopt;
  }

  // GNU's: "NAME/", "/OFFSET" into the member "//". BSD's: "#1/LENGTH", and the name before the contents.
  std::string memberName(std::string_view name, std::string_view names, std::string_view& body) const {
    if (name.starts_with("#1/")) {
      const auto length = number(name.substr(3));
      if (!length || *length > body.size()) fail(body, "the name of a member is cut short");
      const std::string_view text = body.substr(0, *length);
      body.remove_prefix(*length);
      return std::string(text.substr(0, text.find('\0')));
    }
    if (name.starts_with('/') && name.size() > 1) {
      const auto offset = number(name.substr(1));
      if (!offset || *offset >= names.size()) fail(body, "the name of a member is not there");
      const std::string_view text = names.substr(*offset);
      return std::string(text.substr(0, std::min(text.find("/\n"), text.find('\0'))));
    }
    return std::string(name.substr(0, name.find('/')));
  }

  void readArchive() {
    std::string_view names;
    std::map<std::string, unsigned> seen;
    for (std::string_view rest = file_.substr(kArchive.size()); !rest.empty();) {
      member_.clear();
      const auto h = get<MemberHeader>(rest, 0, "whole head of a member");
      const auto size = number({h.size, sizeof h.size});
      if (!size || std::string_view(h.end, 2) != "`\n") fail(rest, "this is not the head of a member");
      std::string_view body = rest.substr(sizeof h);
      if (*size > body.size()) fail(rest, "a member is longer than the file");
      body = body.substr(0, *size);
      rest.remove_prefix(std::min(rest.size(), sizeof h + *size + *size % 2));
      const std::string_view name = field({h.name, sizeof h.name});
      if (name == "//") names = body;
      if (name == "/" || name == "//" || name == "/SYM64/" || name.starts_with("__.SYMDEF")) continue;
      std::string text = memberName(name, names, body);
      if (const unsigned n = ++seen[text]; n != 1) text += fmt::format("#{}", n);
      readObject(body, text);
    }
  }

  // ---- ELF files ----

  void readElf(std::string_view elf) {
    const auto ident = get<std::array<unsigned char, EI_NIDENT>>(elf, 0, "whole head");
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
      fail(elf, "only 64-bit little-endian ELF files are read");
    const auto head = get<Elf64_Ehdr>(elf, 0, "whole head");
    if (head.e_machine == kMachineCuda) {
      const unsigned architecture =
          (head.e_ident[EI_ABIVERSION] >= kNewFlagsAbi ? head.e_flags >> 8 : head.e_flags) & 0xff;
      FatEntry entry{FatEntry::Kind::MachineCode, architecture, {}, elf, 0, 0};
      modules_.push_back({entry, member_, ++fats_, false, false, {}, 0});
      return;
    }
    if (head.e_shoff == 0) return;
    if (head.e_shentsize != sizeof(Elf64_Shdr)) fail(elf, "sections have heads of an unknown size");
    const auto first = get<Elf64_Shdr>(elf, head.e_shoff, "table of sections");
    const uint64_t count = head.e_shnum != 0 ? head.e_shnum : first.sh_size;
    if (count > (elf.size() - head.e_shoff) / sizeof(Elf64_Shdr))
      fail(elf, "the file is cut short: there is no whole table of sections");
    const uint64_t names = head.e_shstrndx == SHN_XINDEX ? first.sh_link : head.e_shstrndx;
    if (names >= count) fail(elf, "sections have no names");
    const auto section = [&](uint64_t n) {
      return get<Elf64_Shdr>(elf, head.e_shoff + n * sizeof(Elf64_Shdr), "table of sections");
    };
    const auto bytesOf = [&](const Elf64_Shdr& s) {
      if (s.sh_offset > elf.size() || s.sh_size > elf.size() - s.sh_offset)
        fail(elf, fmt::format("the file is cut short: it has {} bytes, and a section ends at byte {}", elf.size(),
                              s.sh_offset + s.sh_size));
      return elf.substr(s.sh_offset, s.sh_size);
    };
    const std::string_view strings = bytesOf(section(names));
    for (uint64_t n = 1; n < count; ++n) {
      const Elf64_Shdr s = section(n);
      if (s.sh_type == SHT_NOBITS || s.sh_name >= strings.size()) continue;
      const std::string_view tail = strings.substr(s.sh_name), name = tail.substr(0, tail.find('\0'));
      const bool isRelocatable = name == "__nv_relfatbin";
      if (isRelocatable || name == ".nv_fatbin") readFat(bytesOf(s), isRelocatable, head.e_type == ET_REL);
    }
  }

  // ---- fat binaries ----

  // One after the other, with zeros between them.
  void readFat(std::string_view part, bool isRelocatable, bool isObject) {
    for (std::size_t offset = 0; offset < part.size();) {
      const std::string_view rest = part.substr(offset);
      if (!rest.starts_with(kFatBytes)) {
        const std::size_t step = std::min(rest.size(), kFatAlignment);
        if (rest.substr(0, step).find_first_not_of('\0') != std::string_view::npos)
          fail(rest, "a fat binary does not begin as one");
        offset += step;
        continue;
      }
      const auto size = fatSize(rest.substr(0, kContainerHeader));
      if (const auto* wrong = std::get_if<Broken>(&size)) fail(rest.substr(wrong->at), wrong->message);
      const std::string_view fat = rest.substr(0, std::get<uint64_t>(size));
      const auto entries = fatEntries(fat);
      if (const auto* wrong = std::get_if<Broken>(&entries)) fail(rest.substr(wrong->at), wrong->message);
      ++fats_;
      std::size_t place = 0;
      for (const FatEntry& entry : std::get<0>(entries)) {
        if (entry.kind != FatEntry::Kind::Other)
          modules_.push_back({entry, member_, fats_, isRelocatable, isObject, fat, place});
        ++place;
      }
      offset += fat.size();
    }
  }

  std::string_view file_;
  std::string member_;
  unsigned fats_ = 0;
  std::vector<Module> modules_;
};

}  // namespace

bool isBuilt(std::string_view b) {
  return b.starts_with(ELFMAG) || b.starts_with(kArchive) || b.starts_with(kThinArchive) ||
         b.starts_with(kFatBytes);
}

OrBroken<std::vector<Module>> modulesOf(std::string_view bytes) {
  try {
    return Reader(bytes).read();
  } catch (const Failed& why) {
    return Broken{why.message, 0};
  }
}

OrBroken<std::string> contentsOf(const Module& module) { return contentsOf(module.entry); }

std::string nameOf(const Module& m) {
  return fmt::format("{}{} {} for sm_{}", m.member.empty() ? "" : m.member + ": ",
                     m.entry.isPtx() ? "PTX" : "machine code", m.number, m.entry.architecture);
}

}  // namespace ptxopt::container
