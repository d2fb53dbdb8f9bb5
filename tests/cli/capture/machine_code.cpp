// In front of the stub of the driver: a linker that makes machine code, as a device's does, and a loader that takes it.
//
// The machine code is the header of an ELF file and the linked PTX. So the library that captures finds no PTX in an image, and
// the stub runs it all the same.
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

extern "C" {
int cuModuleLoadData(void**, const void*);
}

namespace {

constexpr char kMagic[] =
    "\x7f"
    "ELF";
constexpr std::size_t kHeader = 64;

struct Linker {
  std::string text, image;
};

// Each text but the first begins with a version, a target, and a size of addresses, which are there once.
int add(void* state, const char* added) {
  std::string& text = static_cast<Linker*>(state)->text;
  text += text.empty() ? added : std::strstr(added, ".visible");
  return 0;
}

}  // namespace

#define SEEN extern "C" __attribute__((visibility("default"))) int
#pragma GCC diagnostic ignored "-Wmissing-declarations"

SEEN cuLinkCreate_v2(unsigned, int*, void**, void** state) {
  *state = new Linker;
  return 0;
}
SEEN cuLinkAddData_v2(void* state, int, void* data, std::size_t, const char*, unsigned, int*, void**) {
  return add(state, static_cast<const char*>(data));
}
SEEN cuLinkAddFile_v2(void* state, int, const char* path, unsigned, int*, void**) {
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return add(state, text.c_str());
}
SEEN cuLinkComplete(void* state, void** image, std::size_t* size) {
  Linker& linker = *static_cast<Linker*>(state);
  linker.image.assign(kHeader, '\0');
  std::memcpy(linker.image.data(), kMagic, 4);
  linker.image += linker.text;
  *image = linker.image.data();
  *size = linker.image.size() + 1;
  return 0;
}
SEEN cuLinkDestroy(void* state) {
  delete static_cast<Linker*>(state);
  return 0;
}
SEEN cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  const char* const bytes = static_cast<const char*>(image);
  return cuModuleLoadData(module, std::memcmp(bytes, kMagic, 4) == 0 ? bytes + kHeader : bytes);
}
