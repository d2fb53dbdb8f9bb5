// libelf reads the sections: the one with kernels and the dynamic one with the libraries that are needed. A program
// with kernels and without libcudart or libcuda counts as linked statically.
#include "emulate/program_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <string_view>

#include "support/descriptor.h"
#include "support/environment.h"

namespace ptxopt::emulate {
namespace {

struct ElfCloser {
  Elf* elf;
  ~ElfCloser() {
    if (elf != nullptr) elf_end(elf);
  }
};

void readLibraries(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::vector<std::string>& libraries) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (std::size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL) return;
    if (entry.d_tag != DT_NEEDED) continue;
    if (const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val)) libraries.emplace_back(name);
  }
}

}  // namespace

bool ProgramFile::isStatic() const {
  if (!isElf || !hasKernels) return false;
  for (const std::string& library : libraries)
    if (library.starts_with("libcudart.so") || library.starts_with("libcuda.so")) return false;
  return true;
}

ProgramFile readProgramFile(const std::string& path) {
  ProgramFile program;
  if (elf_version(EV_CURRENT) == EV_NONE) return program;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return program;
  const ElfCloser opened{elf_begin(file.get(), ELF_C_READ, nullptr)};
  Elf* const elf = opened.elf;
  std::size_t names = 0;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0) return program;
  program.isElf = true;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && std::string_view(name) == ".nv_fatbin") program.hasKernels = true;
    if (header.sh_type == SHT_DYNAMIC) readLibraries(elf, section, header, program.libraries);
  }
  return program;
}

std::string findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  for (std::string& file : filesInPath(name))
    if (access(file.c_str(), X_OK) == 0) return std::move(file);
  return {};
}

}  // namespace ptxopt::emulate
