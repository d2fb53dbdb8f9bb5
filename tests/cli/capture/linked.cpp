// Kernels that come out of the driver's linker, for tests of the library that captures:  linked CASE FILE
//
// FILE is where the second PTX is put for those that link files. Each word is added 1, then multiplied by 3.
#include <cstring>
#include <fstream>

#include "kernels.h"

extern "C" {
int cuLinkCreate_v2(unsigned, int*, void**, void**);
int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkAddFile_v2(void*, int, const char*, unsigned, int*, void**);
int cuLinkComplete(void*, void**, size_t*);
int cuLinkDestroy(void*);
}

int main(int, char** argv) {
  const std::string what = argv[1];
  const uint64_t data = words();
  const std::string texts[] = {kHead + kernel("add", "add.u32"), kHead + kernel("multiply", "mul.lo.u32")};
  void *module = nullptr, *state = nullptr, *image = nullptr;
  size_t size = 0;
  MUST(cuLinkCreate_v2(0, nullptr, nullptr, &state));
  constexpr int kPtx = 1;
  if (what == "files") {
    std::ofstream(argv[2]) << texts[1];
    MUST(cuLinkAddFile_v2(state, kPtx, argv[2], 0, nullptr, nullptr));
  } else {
    MUST(cuLinkAddData_v2(state, kPtx, const_cast<char*>(texts[1].c_str()), texts[1].size() + 1, "", 0, nullptr,
                          nullptr));
  }
  MUST(cuLinkAddData_v2(state, kPtx, const_cast<char*>(texts[0].c_str()), texts[0].size() + 1, "", 0, nullptr,
                        nullptr));
  MUST(cuLinkComplete(state, &image, &size));
  if (what == "machine") static_cast<char*>(image)[7] = 1;  // another file than the linker's
  if (what == "copied") {
    std::vector<char> copy(static_cast<char*>(image), static_cast<char*>(image) + size);
    MUST(cuLinkDestroy(state));
    MUST(cuModuleLoadDataEx(&module, copy.data(), 0, nullptr, nullptr));
  } else {
    MUST(cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr));
    MUST(cuLinkDestroy(state));
  }
  uint64_t pointer = data;
  for (const auto& [name, number] : {std::pair("add", 1u), std::pair("multiply", 3u)}) {
    void* function = nullptr;
    uint32_t n = number;
    void* places[] = {&pointer, &n};
    MUST(cuModuleGetFunction(&function, module, name));
    MUST(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, places, nullptr));
  }
  return ends(data, 3, 3);
}
