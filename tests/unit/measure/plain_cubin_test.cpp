// A cubin without the -v of its command line: ELF files made here, with the layout of ptxas.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "ptxas/plain_cubin.h"

namespace ptxopt {
namespace {

template <typename T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string note(const std::string& line) {
  const std::string strings = std::string("\0ptxas\0", 7);
  std::string words = strings + line + '\0';
  words.resize((words.size() + 3) / 4 * 4);
  std::string out;
  for (const uint32_t word : {12u, static_cast<uint32_t>(24 + words.size()), 2000u}) append(out, word);
  out += std::string("NVIDIA Corp\0", 12);
  for (const uint32_t word : {2u, 0u, 1u, 1u, 1u, static_cast<uint32_t>(strings.size())}) append(out, word);
  return out + words;
}

// Sections: names, the note, code at 128, shared memory without bytes; a segment of the code.
std::string cubin(const std::string& line, bool isLinked = true) {
  const std::string names("\0.shstrtab\0.note.nv.tkinfo\0.text.k\0.nv.shared.k\0", 49);
  const std::vector<std::string> contents{"", names, note(line), std::string(300, 'c'), ""};
  std::vector<Elf64_Shdr> sections(contents.size());
  const uint32_t nameOf[] = {0, 1, 11, 27, 35},
                 types[] = {SHT_NULL, SHT_STRTAB, SHT_NOTE, SHT_PROGBITS, SHT_NOBITS};
  const uint64_t alignments[] = {0, 1, 4, 128, 16};
  std::string out(sizeof(Elf64_Ehdr), '\0');
  for (std::size_t i = 1; i < sections.size(); ++i) {
    Elf64_Shdr& s = sections[i];
    s.sh_name = nameOf[i];
    s.sh_type = types[i];
    s.sh_addralign = alignments[i];
    s.sh_size = types[i] == SHT_NOBITS ? 64 : contents[i].size();
    out.resize((out.size() + alignments[i] - 1) / alignments[i] * alignments[i]);
    s.sh_offset = out.size();
    out += contents[i];
  }
  out.resize((out.size() + 7) / 8 * 8);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = out.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = 1;
  for (const Elf64_Shdr& s : sections) append(out, s);
  if (isLinked) {
    header.e_phoff = out.size();
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    Elf64_Phdr own{}, code{};
    own.p_type = PT_PHDR;
    own.p_offset = header.e_phoff;
    own.p_filesz = own.p_memsz = 2 * sizeof(Elf64_Phdr);
    code.p_type = PT_LOAD;
    code.p_offset = sections[3].sh_offset;
    code.p_filesz = sections[3].sh_size;
    code.p_memsz = sections[3].sh_size + 64;
    append(out, own);
    append(out, code);
  }
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

TEST_CASE("plain cubin: as if it had been made without -v") {
  for (const bool isLinked : {true, false})
    for (const std::string before : {"", "-O 3 ", "-maxrregcount 32 -O 3 "})
      for (const std::string after : {"-arch sm_80 ", "-lineinfo  -arch sm_90a -c  "}) {
        const auto plain = ptxas::cubinWithoutVerbose(cubin(before + "-v  " + after, isLinked));
        REQUIRE(plain.has_value());
        CHECK(*plain == cubin(before + after, isLinked));
      }
}

TEST_CASE("plain cubin: what is not understood is left") {
  const std::string whole = cubin("-v  -arch sm_80 ");
  CHECK_FALSE(ptxas::cubinWithoutVerbose("").has_value());
  CHECK_FALSE(ptxas::cubinWithoutVerbose("cubin").has_value());
  CHECK_FALSE(ptxas::cubinWithoutVerbose(cubin("-arch sm_80 ")).has_value());
  CHECK_FALSE(ptxas::cubinWithoutVerbose(cubin("-v  -v  -arch sm_80 ")).has_value());
  CHECK_FALSE(ptxas::cubinWithoutVerbose(cubin("-e x-v  -arch sm_80 ")).has_value());
  CHECK_FALSE(ptxas::cubinWithoutVerbose(whole + '\0').has_value());
  for (std::size_t size = 0; size < whole.size(); size += 7)
    CHECK_FALSE(ptxas::cubinWithoutVerbose(whole.substr(0, size)).has_value());
  // Whatever a header says, nothing beyond the bytes is read.
  for (std::size_t at = 0; at < sizeof(Elf64_Ehdr); ++at)
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string other = whole;
      other[at] = byte;
      if (const auto plain = ptxas::cubinWithoutVerbose(other)) CHECK(plain->size() <= whole.size());
    }
}

}  // namespace
}  // namespace ptxopt
