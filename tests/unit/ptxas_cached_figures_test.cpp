// Figures from the cache; a script stands for ptxas.
#include <doctest/doctest.h>
#include <elf.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "ptxas/assemble.h"
#include "ptxas/measures_json.h"
#include "support/temporary_folder.h"

using namespace ptxopt;

namespace {

// A cubin for sm_80 without functions: names of sections, and an empty table of symbols.
std::string emptyCubin() {
  const std::string names("\0.shstrtab\0.symtab\0", 19);
  Elf64_Ehdr header{};
  const unsigned char ident[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 51, 7};
  std::copy(std::begin(ident), std::end(ident), header.e_ident);
  header.e_type = ET_EXEC;
  header.e_machine = 190;
  header.e_version = EV_CURRENT;
  header.e_flags = 80;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  const std::size_t symbols = sizeof header + names.size() + 5;
  header.e_shoff = symbols + sizeof(Elf64_Sym);
  std::array<Elf64_Shdr, 3> sections{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = names.size();
  sections[2].sh_name = 11;
  sections[2].sh_type = SHT_SYMTAB;
  sections[2].sh_offset = symbols;
  sections[2].sh_size = sections[2].sh_entsize = sizeof(Elf64_Sym);
  sections[2].sh_link = 1;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += names;
  bytes.resize(header.e_shoff);
  bytes.append(reinterpret_cast<const char*>(sections.data()), sizeof sections);
  return bytes;
}

}  // namespace

TEST_CASE("cache: warps are those of the occupancy tables of today") {
  const TemporaryFolder folder;
  REQUIRE(folder.isValid());
  const std::string program = folder.file("ptxas"), entries = folder.file("entries");
  std::ofstream(folder.file("empty.cubin"), std::ios::binary) << emptyCubin();
  std::ofstream(program) << "#!/bin/sh\nfor last; do :; done\ncp '" << folder.file("empty.cubin")
                         << "' \"$last\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  Cache cache(entries);
  const PtxasSettings settings{.program = program, .cache = &cache};
  const Assembly first = assemble("a text", "sm_80", settings);
  REQUIRE_MESSAGE(first, first.error);
  CHECK_FALSE(first.fromCache);

  // What an older version wrote, whose table said something else.
  std::string key;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(entries))
    if (entry.is_regular_file())
      key = entry.path().parent_path().filename().string() + entry.path().filename().string();
  REQUIRE(cache.find(key).has_value());
  Measures kept;
  kept.architecture = "sm_80";
  FunctionMeasures& kernel = kept.functions.emplace_back();
  kernel.name = "k";
  kernel.isKernel = true;
  kernel.registers = 128;
  kernel.threads = 128;
  kernel.warps = 5;
  cache.put(key, toJson(kept).dump());

  const Assembly second = assemble("a text", "sm_80", settings);
  REQUIRE_MESSAGE(second, second.error);
  CHECK(second.fromCache);
  REQUIRE(second.measures.functions.size() == 1);
  CHECK(second.measures.functions[0].registers == 128);
  CHECK(second.measures.functions[0].warps == 16);
}
