// The sections are read, the command line loses its four bytes, and everything is laid out again. The same layout is
// first made of the unchanged sections and has to give the offsets of the file.
#include "ptxas/plain_cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace ptxopt::ptxas {
namespace {

constexpr std::string_view kToolNote = ".note.nv.tkinfo";
constexpr std::string_view kVerbose = "-v  ";  // of the command line in it: the option, a blank, no value, a blank
constexpr uint32_t kSharedMemory = SHT_LOPROC + 0xa;  // NVIDIA's, without bytes in the file
constexpr uint32_t kNoteVersion = 2;
constexpr std::size_t kOwner = 12;                          // bytes of the note's owner, "NVIDIA Corp"
constexpr std::size_t kDescription = 12 + kOwner;           // where the description begins, after three words
constexpr std::size_t kStrings = kDescription + 24;         // ... and its strings, after six words
constexpr std::size_t kCommandLine = kDescription + 5 * 4;  // the word that says which of them is the command line
constexpr uint64_t kHeaderAlignment = 8;

template <typename T>
bool read(std::string_view bytes, uint64_t at, T& to) {
  if (at > bytes.size() || sizeof(T) > bytes.size() - at) return false;
  std::memcpy(&to, bytes.data() + at, sizeof(T));
  return true;
}

template <typename T>
bool readAll(std::string_view bytes, uint64_t at, std::size_t count, std::vector<T>& to) {
  to.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    if (!read(bytes, at + i * sizeof(T), to[i])) return false;
  return true;
}

template <typename T>
void write(std::string& bytes, uint64_t at, const T& from) {
  std::memcpy(bytes.data() + at, &from, sizeof(T));
}

uint64_t aligned(uint64_t offset, uint64_t to) { return to <= 1 ? offset : (offset + to - 1) / to * to; }

class Layout {
 public:
  explicit Layout(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::string> withoutVerbose() {
    if (!readHeaders()) return std::nullopt;
    const auto note = std::ranges::find_if(sections_, [&](const Elf64_Shdr& s) { return nameOf(s) == kToolNote; });
    if (note == sections_.end()) return std::string(bytes_);  // nothing says how it was made
    note_ = static_cast<std::size_t>(note - sections_.begin());
    contents_.resize(sections_.size());
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& s = sections_[i];
      if (!hasBytes(s)) continue;
      if (s.sh_offset > bytes_.size() || s.sh_size > bytes_.size() - s.sh_offset) return std::nullopt;
      contents_[i] = bytes_.substr(s.sh_offset, s.sh_size);
    }
    const std::vector<uint64_t> before = offsets();
    for (std::size_t i = 1; i < sections_.size(); ++i)
      if (before[i] != sections_[i].sh_offset) return std::nullopt;
    if (sectionsAt_ != header_.e_shoff || programsAt_ != header_.e_phoff || size_ != bytes_.size())
      return std::nullopt;
    std::optional<std::string> cut = noteWithout(contents_[note_]);
    if (!cut) return std::nullopt;
    contents_[note_] = *cut;
    return laidOut();
  }

 private:
  static bool hasBytes(const Elf64_Shdr& s) {
    return s.sh_type != SHT_NULL && s.sh_type != SHT_NOBITS && s.sh_type != kSharedMemory;
  }

  bool readHeaders() {
    return read(bytes_, 0, header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
           header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_ident[EI_DATA] == ELFDATA2LSB &&
           header_.e_shentsize == sizeof(Elf64_Shdr) && header_.e_shstrndx < header_.e_shnum &&
           (header_.e_phnum == 0 || header_.e_phentsize == sizeof(Elf64_Phdr)) &&
           readAll(bytes_, header_.e_shoff, header_.e_shnum, sections_) &&
           readAll(bytes_, header_.e_phoff, header_.e_phnum, programs_);
  }

  std::string_view nameOf(const Elf64_Shdr& s) const {
    const uint64_t at = sections_[header_.e_shstrndx].sh_offset + s.sh_name;
    if (at >= bytes_.size()) return {};
    const std::string_view rest = bytes_.substr(at);
    return rest.substr(0, rest.find('\0'));
  }

  // Where each section lies, and the headers, by what is in the sections.
  std::vector<uint64_t> offsets() {
    std::vector<std::size_t> order(sections_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sections_[i].sh_offset; });
    std::vector<uint64_t> at(sections_.size());
    uint64_t end = sections_[note_].sh_offset;
    for (const std::size_t i : order) {
      const Elf64_Shdr& s = sections_[i];
      at[i] = s.sh_offset;
      if (i == 0 || s.sh_offset < sections_[note_].sh_offset) continue;
      at[i] = aligned(end, s.sh_addralign);
      end = at[i] + contents_[i].size();
    }
    sectionsAt_ = aligned(end, kHeaderAlignment);
    programsAt_ = sectionsAt_ + sections_.size() * sizeof(Elf64_Shdr);
    size_ = programsAt_ + programs_.size() * sizeof(Elf64_Phdr);
    if (programs_.empty()) programsAt_ = 0;
    return at;
  }

  // Nothing where it is not exactly once in the command line.
  static std::optional<std::string> noteWithout(std::string_view note) {
    uint32_t owner = 0, described = 0, version = 0, line = 0;
    if (!read(note, 0, owner) || owner != kOwner || !read(note, 4, described) ||
        !read(note, kDescription, version) || version != kNoteVersion || !read(note, kCommandLine, line))
      return std::nullopt;
    const std::size_t begin = kStrings + line, at = note.find(kVerbose, begin);
    if (at == std::string_view::npos || (at != begin && note[at - 1] != ' ') ||
        note.find(kVerbose, at + 1) != std::string_view::npos || described < kVerbose.size())
      return std::nullopt;
    std::string out(note);
    out.erase(at, kVerbose.size());
    write(out, 4, static_cast<uint32_t>(described - kVerbose.size()));
    return out;
  }

  std::optional<std::string> laidOut() {
    std::vector<Elf64_Phdr> programs = programs_;
    const Elf64_Ehdr before = header_;
    const std::vector<uint64_t> at = offsets();
    for (Elf64_Phdr& p : programs)
      if (!move(p, at, before.e_phoff)) return std::nullopt;
    header_.e_shoff = sectionsAt_;
    header_.e_phoff = programsAt_;
    std::string out(size_, '\0');
    // What lies before the note may have gaps, which belong to no section.
    std::ranges::copy(bytes_.substr(0, sections_[note_].sh_offset), out.begin());
    write(out, 0, header_);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      Elf64_Shdr s = sections_[i];
      if (i != 0) s.sh_offset = at[i];
      if (i == note_) s.sh_size = contents_[i].size();
      std::ranges::copy(contents_[i], out.begin() + static_cast<std::ptrdiff_t>(s.sh_offset));
      write(out, sectionsAt_ + i * sizeof(Elf64_Shdr), s);
    }
    for (std::size_t i = 0; i < programs.size(); ++i) write(out, programsAt_ + i * sizeof(Elf64_Phdr), programs[i]);
    return out;
  }

  // A segment is the program headers, or goes from the begin of a section to the end of one.
  bool move(Elf64_Phdr& p, const std::vector<uint64_t>& at, uint64_t programsBefore) const {
    const uint64_t begin = p.p_offset, end = p.p_offset + p.p_filesz;
    if (begin == 0 && p.p_filesz == 0) return true;
    if (begin == programsBefore) {
      p.p_offset = programsAt_;
      return true;
    }
    bool hasBegin = false, hasEnd = p.p_filesz == 0;
    uint64_t size = p.p_filesz;
    for (std::size_t i = 1; i < sections_.size(); ++i)
      if (sections_[i].sh_offset == begin && !hasBegin) {
        p.p_offset = at[i];
        hasBegin = true;
      }
    for (std::size_t i = 1; i < sections_.size() && p.p_filesz != 0; ++i) {
      const Elf64_Shdr& s = sections_[i];
      if (!hasBytes(s) || s.sh_offset + s.sh_size != end) continue;
      size = at[i] + contents_[i].size() - p.p_offset;
      hasEnd = true;
    }
    if (p.p_memsz == p.p_filesz) p.p_memsz = size;
    p.p_filesz = size;
    return hasBegin && hasEnd;
  }

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Phdr> programs_;
  std::vector<std::string> contents_;
  std::size_t note_ = 0;
  uint64_t sectionsAt_ = 0, programsAt_ = 0, size_ = 0;
};

}  // namespace

std::optional<std::string> cubinWithoutVerbose(std::string_view cubin) { return Layout(cubin).withoutVerbose(); }

}  // namespace ptxopt::ptxas
