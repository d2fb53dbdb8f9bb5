// A CubinReader opens the file by libelf and walks symbols and sections once for what was asked: figures, names, or
// code with its lines. Attributes of .nv.info are read by their format, and an offset outside of the file is an error.
#include "ptxas/cubin.h"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "ptxas/code_digest.h"
#include "ptxas/machine_code.h"
#include "sass/decode.h"
#include "target/occupancy.h"

namespace ptxopt::ptxas {
namespace {

constexpr unsigned kMachineCuda = 190;     // EM_CUDA
constexpr unsigned char kEntry = 0x10;     // of st_other
constexpr unsigned char kNewFlagsAbi = 8;  // the ABI version from which on the architecture is in bits 8 to 15
constexpr uint8_t kFormatSized = 4;        // an attribute of .nv.info with a size; others hold 16 bits or less

constexpr const char* kLineTable = ".nv_debug_line_sass";
// Its relocations, with the bytes of each.
constexpr std::pair<const char*, std::size_t> kLineRelocations[] = {{".rel.nv_debug_line_sass", 16},
                                                                    {".rela.nv_debug_line_sass", 24}};
constexpr const char* kToolInfo = ".note.nv.tkinfo";  // who made the file, and how

// Attributes of .nv.info.
enum : uint8_t {
  kMostThreads = 0x05,
  kThreadsNeeded = 0x10,
  kFrame = 0x11,
  kRegisters = 0x2f,
  kIndirectBranches = 0x34,
  kBarriers = 0x4c
};

struct ElfCloser {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};

struct Section {
  std::string_view bytes;
  uint64_t size = 0;
  bool isZeros = false;
};

class CubinReader {
 public:
  explicit CubinReader(std::string_view bytes, const LaunchSizes* launches = nullptr)
      : bytes_(bytes), launches_(launches) {}

  std::variant<Measures, CubinError> read() {
    if (std::optional<CubinError> error = open()) return *std::move(error);
    setArchitecture();
    addFunctions();
    return std::move(measures_);
  }

  std::variant<CubinNames, CubinError> readNames() {
    if (std::optional<CubinError> error = open()) return *std::move(error);
    setArchitecture();
    CubinNames names{measures_.architecture, {}};
    forEachFunction([&](uint32_t, const GElf_Sym& symbol, const std::string& name, const Section&) {
      if ((symbol.st_other & kEntry) != 0) names.kernels.push_back(name);
    });
    std::sort(names.kernels.begin(), names.kernels.end());
    return names;
  }

  std::variant<CubinCode, CubinError> readCode() {
    if (std::optional<CubinError> error = open()) return *std::move(error);
    CubinCode code;
    code.architecture = target_.number();
    auto lines = linesBySymbol();
    forEachFunction([&](uint32_t n, const GElf_Sym&, const std::string& name, const Section& text) {
      code.functions.push_back({name, text.bytes, branchesOf(name), std::move(lines[n])});
    });
    return code;
  }

 private:
  std::optional<CubinError> open() {
    if (!isElf(bytes_)) return CubinError{"not an ELF file"};
    ::elf_version(EV_CURRENT);
    // libelf only reads from it.
    elf_.reset(::elf_memory(const_cast<char*>(bytes_.data()), bytes_.size()));
    GElf_Ehdr header;
    if (!elf_ || ::elf_kind(elf_.get()) != ELF_K_ELF || ::gelf_getehdr(elf_.get(), &header) == nullptr)
      return broken();
    if (header.e_machine != kMachineCuda) return CubinError{"not for NVIDIA's machines"};
    target_ = target::Target(header.e_ident[EI_ABIVERSION] >= kNewFlagsAbi ? header.e_flags >> 8 & 0xff
                                                                           : header.e_flags & 0xff);
    if (!readSections()) return broken();
    return std::nullopt;
  }

  void setArchitecture() {
    measures_.architecture = fmt::format("sm_{}", target_.number());
    if (const Section* info = find(kToolInfo)) setVariant(info->bytes);
  }

  // The number of the architecture stands in the header, the letter after it only in the command line of ptxas.
  void setVariant(std::string_view toolInfo) {
    const std::string option = "-arch " + measures_.architecture;
    const std::size_t at = toolInfo.find(option);
    if (at == std::string_view::npos || at + option.size() >= toolInfo.size()) return;
    const char letter = toolInfo[at + option.size()];
    if (letter == 'a' || letter == 'f') measures_.architecture += letter;
  }

  static CubinError broken() {
    const char* const why = ::elf_errmsg(-1);
    return {fmt::format("a broken ELF file{}{}", why == nullptr ? "" : ": ", why == nullptr ? "" : why)};
  }

  bool readSections() {
    std::size_t names = 0;
    if (::elf_getshdrstrndx(elf_.get(), &names) != 0) return false;
    for (Elf_Scn* s = ::elf_nextscn(elf_.get(), nullptr); s != nullptr; s = ::elf_nextscn(elf_.get(), s)) {
      GElf_Shdr header;
      if (::gelf_getshdr(s, &header) == nullptr) return false;
      const char* const name = ::elf_strptr(elf_.get(), names, header.sh_name);
      if (name == nullptr) return false;
      Section section{{}, header.sh_size, header.sh_type == SHT_NOBITS};
      // Types of NVIDIA's own without bytes in the file lie beyond its end or hold what is not theirs.
      if (header.sh_type != SHT_NOBITS && header.sh_offset <= bytes_.size() &&
          header.sh_size <= bytes_.size() - header.sh_offset)
        section.bytes = bytes_.substr(header.sh_offset, header.sh_size);
      else if (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_SYMTAB)
        return false;
      sections_.emplace(name, section);
      if (header.sh_type == SHT_SYMTAB) {
        symbols_ = ::elf_getdata(s, nullptr);
        symbolNames_ = header.sh_link;
        symbolCount_ = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
      }
    }
    return symbols_ != nullptr;
  }

  // Calls visit(attribute, bytes) for each; `bytes` holds what stands in its size for those without bytes.
  template <class Visit>
  static void forEachAttribute(std::string_view info, Visit visit) {
    while (info.size() >= 4) {
      const auto format = static_cast<uint8_t>(info[0]), attribute = static_cast<uint8_t>(info[1]);
      uint16_t size;
      std::memcpy(&size, info.data() + 2, sizeof size);
      const std::string_view word = info.substr(2, 2);
      info.remove_prefix(4);
      if (format != kFormatSized) {
        visit(attribute, word);
        continue;
      }
      visit(attribute, info.substr(0, size));
      info.remove_prefix(std::min<std::size_t>(size, info.size()));
    }
  }
  static uint32_t wordAt(std::string_view bytes, std::size_t n) {
    uint32_t value = 0;
    if (bytes.size() >= 4 * (n + 1)) std::memcpy(&value, bytes.data() + 4 * n, 4);
    return value;
  }

  const Section* find(const std::string& name) const {
    const auto it = sections_.find(name);
    return it == sections_.end() ? nullptr : &it->second;
  }

  // Calls visit(number of the symbol, symbol, name, section) for each function that has a section of its own.
  template <class Visit>
  void forEachFunction(Visit visit) const {
    for (uint32_t n = 0; n < symbolCount_; ++n) {
      GElf_Sym symbol;
      if (::gelf_getsym(symbols_, static_cast<int>(n), &symbol) == nullptr) continue;
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const char* const name = ::elf_strptr(elf_.get(), symbolNames_, symbol.st_name);
      const Section* const text = name == nullptr ? nullptr : find(std::string(".text.") + name);
      if (text != nullptr) visit(n, symbol, std::string(name), *text);
    }
  }

  // The attribute has for each branch its place, a zero, the number of its targets, and these.
  std::vector<sass::IndirectBranch> branchesOf(const std::string& function) const {
    std::vector<sass::IndirectBranch> branches;
    const Section* const info = find(".nv.info." + function);
    if (info == nullptr) return branches;
    forEachAttribute(info->bytes, [&](uint8_t attribute, std::string_view bytes) {
      if (attribute != kIndirectBranches) return;
      constexpr std::size_t kWords = 3;
      for (std::size_t n = 0, left = bytes.size() / 4; left >= kWords;) {
        sass::IndirectBranch branch{wordAt(bytes, n), {}};
        const std::size_t count = std::min<std::size_t>(wordAt(bytes, n + 2), left - kWords);
        for (std::size_t i = 0; i < count; ++i) branch.targets.push_back(wordAt(bytes, n + kWords + i));
        branches.push_back(std::move(branch));
        n += kWords + count;
        left -= kWords + count;
      }
    });
    return branches;
  }

  // A sequence of the line table begins with an address that a relocation ties to a function's symbol.
  std::map<uint32_t, std::vector<LineRow>> linesBySymbol() const {
    std::map<uint32_t, std::vector<LineRow>> lines;
    const Section* const table = find(kLineTable);
    if (table == nullptr) return lines;
    std::map<uint64_t, uint32_t> symbolAt;
    for (const auto& [name, entrySize] : kLineRelocations)
      if (const Section* s = find(name))
        for (std::size_t at = 0; at + entrySize <= s->bytes.size(); at += entrySize) {
          uint64_t offset, info;
          std::memcpy(&offset, s->bytes.data() + at, 8);
          std::memcpy(&info, s->bytes.data() + at + 8, 8);
          symbolAt[offset] = static_cast<uint32_t>(ELF64_R_SYM(info));
        }
    for (LineSequence& sequence : readLineTable(table->bytes))
      if (const auto symbol = symbolAt.find(sequence.relocatedAt); symbol != symbolAt.end())
        lines[symbol->second] = std::move(sequence.rows);
    return lines;
  }

  void addFunctions() {
    std::map<uint32_t, uint32_t> registers, frames;  // by symbol
    if (const Section* info = find(".nv.info"))
      forEachAttribute(info->bytes, [&](uint8_t attribute, std::string_view bytes) {
        if (attribute == kRegisters) registers[wordAt(bytes, 0)] = wordAt(bytes, 1);
        if (attribute == kFrame) frames[wordAt(bytes, 0)] = wordAt(bytes, 1);
      });
    forEachFunction([&](uint32_t n, const GElf_Sym& symbol, const std::string& name, const Section& text) {
      FunctionMeasures f;
      f.name = name;
      f.isKernel = (symbol.st_other & kEntry) != 0;
      f.registers = registers[n];
      f.stack = frames[n];
      addSections(f, text);
      const LaunchSize launch = launchOf(f);
      if (launch.threads != 0) f.threads = launch.threads;
      setWarps(f, measures_.architecture, launch.blocks);
      if (target_.has(target::Capability::Instructions16Bytes))
        f.time = timeMachineCode(
            text.bytes, target_.number(), branchesOf(name), f, target_.machine(),
            launch.blocks != 0 && target_.limits() != nullptr && target_.limits()->multiprocessors != 0);
      measures_.functions.push_back(std::move(f));
    });
    std::sort(measures_.functions.begin(), measures_.functions.end(),
              [](const FunctionMeasures& a, const FunctionMeasures& b) { return a.name < b.name; });
  }

  LaunchSize launchOf(const FunctionMeasures& f) const {
    if (launches_ == nullptr || !f.isKernel) return {};
    const auto found = launches_->find(f.name);
    return found == launches_->end() ? LaunchSize{} : found->second;
  }

  void addSections(FunctionMeasures& f, const Section& text) {
    if (const Section* s = find(".nv.shared." + f.name)) {
      f.shared = s->size;
      // Not so in relocatable code, whose sections are of another type.
      const target::Limits* const a = target_.limits();
      if (s->isZeros && a != nullptr && target_.has(target::Capability::ReservedSharedInSection))
        f.shared -= std::min<uint64_t>(f.shared, a->reservedSharedBytes);
    }
    if (const Section* s = find(".nv.constant0." + f.name)) f.constant = s->size;
    if (const Section* s = find(".nv.info." + f.name))
      forEachAttribute(s->bytes, [&](uint8_t attribute, std::string_view bytes) {
        if (attribute == kBarriers && !bytes.empty()) f.barriers = static_cast<uint8_t>(bytes[0]);
        if (attribute == kMostThreads || attribute == kThreadsNeeded)
          f.threads = wordAt(bytes, 0) * std::max(1u, wordAt(bytes, 1)) * std::max(1u, wordAt(bytes, 2));
      });
    if (target_.has(target::Capability::Instructions16Bytes)) {
      const MachineCodeCounts counts = countMachineCode(text.bytes, target_.number(), branchesOf(f.name));
      f.instructions = counts.instructions;
      f.inner = counts.inner;
      f.innerLoops = counts.innerLoops;
      f.codeParts = codePartsOf(text.bytes, target_.number());
    }
    f.code = codeDigest(text.bytes);
  }

  std::string_view bytes_;
  const LaunchSizes* launches_;  // none: not known
  std::unique_ptr<Elf, ElfCloser> elf_;
  target::Target target_{0U};
  Measures measures_;
  std::map<std::string, Section> sections_;
  Elf_Data* symbols_ = nullptr;
  std::size_t symbolNames_ = 0, symbolCount_ = 0;
};

}  // namespace

bool isElf(std::string_view bytes) { return bytes.starts_with("\177ELF"); }

std::string ptxasVersionOfCubin(std::string_view bytes) {
  constexpr std::string_view kBefore = "Cuda compilation tools, release ", kVersion = ", V";
  std::size_t at = bytes.find(kBefore);
  if (at == std::string_view::npos) return {};
  const std::string_view line = bytes.substr(at, std::min(bytes.find('\0', at), at + 100) - at);
  at = line.find(kVersion);
  if (at == std::string_view::npos) return {};
  const std::string_view version = line.substr(at + kVersion.size() - 1);
  return std::string(version.substr(0, version.find_first_not_of("V0123456789.")));
}

std::variant<Measures, CubinError> readCubin(std::string_view bytes, const LaunchSizes& launches) {
  return CubinReader(bytes, &launches).read();
}

std::variant<CubinNames, CubinError> readCubinNames(std::string_view bytes) {
  return CubinReader(bytes).readNames();
}

std::variant<CubinCode, CubinError> readCubinCode(std::string_view bytes) { return CubinReader(bytes).readCode(); }

}  // namespace ptxopt::ptxas
