// A program that loads PTX, for tests of ptxopt jit:  program WAY LOADER WHAT
//
// WAY is how it finds the driver: `linked`, by dlsym (`asked`), by dlsym of a library at a path (`path`, $DRIVER), by
// cuGetProcAddress (`entries`), or by a library that does not see ours ($DEEP, `deep`). LOADER is the function that loads, or a case below. WHAT is loaded: `good`, `bounded`, `broken`, `machine`, `text`,
// or `none`. It prints what the driver answered, what it said, and what the kernel computed.
#include "add_loop.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemcpyDtoH_v2(void*, uint64_t, size_t);
int cuModuleLoad(void**, const char*);
int cuModuleLoadData(void**, const void*);
int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**);
int cuModuleLoadFatBinary(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryLoadFromFile(void**, const char*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetKernel(void**, void*, const char*);
int cuLinkCreate_v2(unsigned, int*, void**, void**);
int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkAddFile_v2(void*, int, const char*, unsigned, int*, void**);
int cuLinkComplete(void*, void**, size_t*);
int cuLinkDestroy(void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
}

namespace {

constexpr unsigned kThreads = 32, kN = 9;

std::string way;
void* library;

void* find(const char* name, void* linked) {
  if (way == "linked") return linked;
  if (way == "asked" || way == "path") return dlsym(library, name);
  if (way == "deep") {
    static auto* const lookUp = reinterpret_cast<void* (*)(const char*)>(
        dlsym(dlopen(std::getenv("DEEP"), RTLD_NOW | RTLD_DEEPBIND), "lookUp"));
    return lookUp(name);
  }
  static auto* const ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(library, "cuGetProcAddress_v2"));
  std::string plain = name;
  if (plain.ends_with("_v2")) plain.resize(plain.size() - 3);
  void* function = nullptr;
  int status = 0;
  if (ask(plain.c_str(), &function, 12000, 0, &status) != 0) std::printf("there is no %s\n", name), std::exit(3);
  return function;
}

#define CALL(name, ...)                                                                                   \
  [&] {                                                                                                   \
    static auto* const f = reinterpret_cast<decltype(&name)>(find(#name, reinterpret_cast<void*>(name))); \
    return f(__VA_ARGS__);                                                                                \
  }()
#define MUST(name, ...) \
  if (const int result = CALL(name, __VA_ARGS__); result != 0) std::printf(#name ": %d\n", result), std::exit(2)

// Each word becomes n / 3 more, n times.
const char kGood[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<5>; .reg .b32 %r<9>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
)" ADD_LOOP;

std::string imageOf(const std::string& what) {
  std::string text = kGood;
  if (what == "broken") return text.replace(text.find("ret;"), 4, "ret");
  if (what == "bounded") text.insert(text.find('{', text.find(".entry")), ".maxntid 64, 1, 1 ");
  if (what == "machine")
    return "\x7f"
           "ELF, as far as its first bytes go";
  if (what == "text") return "what is none of these";
  if (const char* const more = std::getenv("COMMENT")) text += std::string("// ") + more + "\n";
  return text;
}

// A container with PTX for sm_80, and machine code for an architecture (0: none).
std::string fatBinary(std::string ptx, uint64_t machineCodeFor) {
  std::string bytes(16, '\0');
  const auto put = [&](std::size_t at, uint64_t value, std::size_t size) { std::memcpy(&bytes[at], &value, size); };
  const auto add = [&](uint64_t kind, std::string contents, uint64_t architecture) {
    contents.resize((contents.size() + 8) / 8 * 8, '\0');
    const std::size_t at = bytes.size();
    bytes.resize(at + 64);
    put(at, kind, 2), put(at + 2, 0x101, 2), put(at + 4, 64, 4), put(at + 8, contents.size(), 8),
        put(at + 28, architecture, 4);
    bytes += contents;
  };
  if (machineCodeFor != 0)
    add(2,
        "\x7f"
        "ELF",
        machineCodeFor);
  add(1, std::move(ptx), 80);
  put(0, 0xBA55ED50, 4), put(4, 1, 2), put(6, 16, 2), put(8, bytes.size() - 16, 8);
  return bytes;
}

// What the kernel makes of words; false where it is not what it should be.
bool computes(void* function) {
  uint64_t data = 0;
  uint32_t n = kN;
  std::vector<uint32_t> values(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) values[i] = i;
  MUST(cuMemAlloc_v2, &data, 4 * kThreads);
  MUST(cuMemcpyHtoD_v2, data, values.data(), 4 * kThreads);
  void* places[] = {&data, &n};
  MUST(cuLaunchKernel, function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, places, nullptr);
  MUST(cuMemcpyDtoH_v2, values.data(), data, 4 * kThreads);
  for (unsigned i = 0; i < kThreads; ++i)
    if (values[i] != i + kN * (kN / 3)) return false;
  return true;
}

void* functionOf(void* module, bool isLibrary) {
  void* function = nullptr;
  if (isLibrary) {
    MUST(cuLibraryGetKernel, &function, module, "add");
  } else {
    MUST(cuModuleGetFunction, &function, module, "add");
  }
  return function;
}

int run(const std::string& loader, const std::string& what) {
  std::string image = imageOf(what);
  const void* const at = what == "none" ? nullptr : image.data();
  void *module = nullptr, *linker = nullptr, *linked = nullptr;
  const bool isLibrary = loader.starts_with("cuLibrary");
  // Logs, their sizes, and what the driver writes into the array.
  char info[256] = "", error[256] = "";
  int options[] = {3, 4, 5, 6, 2};
  void* values[] = {info, reinterpret_cast<void*>(sizeof info), error, reinterpret_cast<void*>(sizeof error),
                    nullptr};
  constexpr unsigned kOptions = 5;
  // What asks for code that is not optimized: -g, or level 0.
  int plain[] = {11};
  void* plainValues[] = {reinterpret_cast<void*>(uintptr_t{1})};
  const struct {
    unsigned magic = 0x466243B1, version = 1;
    const void* container;
    const void* linked = nullptr;
  } wrapper{.container = at};
  const char* const file = "image";
  std::ofstream(file, std::ios::binary) << image;
  int result = 0;
  if (loader == "cuModuleLoadData") result = CALL(cuModuleLoadData, &module, at);
  if (loader == "cuModuleLoadDataEx") result = CALL(cuModuleLoadDataEx, &module, at, kOptions, options, values);
  if (loader == "cuModuleLoadDataEx-plain") result = CALL(cuModuleLoadDataEx, &module, at, 1, plain, plainValues);
  if (loader == "cuModuleLoadDataEx-nowhere") result = CALL(cuModuleLoadDataEx, nullptr, at, 0, nullptr, nullptr);
  if (loader == "cuModuleLoad") result = CALL(cuModuleLoad, &module, file);
  if (loader == "cuModuleLoad-pipe") {
    const char* const pipe = "pipe";
    if (mkfifo(pipe, 0600) != 0) return 2;
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << image; });
    result = CALL(cuModuleLoad, &module, pipe);
    writer.join();
    unlink(pipe);
  }
  if (loader == "cuModuleLoad-missing") result = CALL(cuModuleLoad, &module, "there is none");
  if (loader.starts_with("cuModuleLoadFatBinary")) {
    // The device is one of sm_80.
    image = fatBinary(image, loader.ends_with("-older") ? 75 : loader.ends_with("-fitting") ? 80 : 0);
    result = CALL(cuModuleLoadFatBinary, &module, image.data());
    image.assign(image.size(), 'x');
  }
  if (loader == "cuLibraryLoadData-wrapped") {
    image = fatBinary(image, 0);
    auto given = wrapper;
    given.container = image.data();
    result = CALL(cuLibraryLoadData, &module, &given, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  if (loader == "cuLibraryLoadData")
    result = CALL(cuLibraryLoadData, &module, at, options, values, kOptions, nullptr, nullptr, 0);
  if (loader == "cuLibraryLoadFromFile")
    result = CALL(cuLibraryLoadFromFile, &module, file, options, values, kOptions, nullptr, nullptr, 0);
  if (loader.starts_with("cuLink")) {
    constexpr int kPtx = 1;
    if (loader.ends_with("-freed")) {
      // What no output is asked of may go once the linker is made.
      constexpr size_t kPage = 4096;
      void* const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      auto** const given = static_cast<void**>(page);
      int* const most = static_cast<int*>(page) + 100;
      *given = reinterpret_cast<void*>(uintptr_t{64});  // of registers
      MUST(cuLinkCreate_v2, 1, most, given, &linker);
      munmap(page, kPage);
    } else {
      MUST(cuLinkCreate_v2, kOptions, options, values, &linker);
    }
    result = loader == "cuLinkAddFile" ? CALL(cuLinkAddFile_v2, linker, kPtx, file, 0, nullptr, nullptr)
                                       : CALL(cuLinkAddData_v2, linker, kPtx, image.data(), image.size() + 1,
                                              "name", 0, nullptr, nullptr);
    std::printf("added: %d\n", result);
    size_t size = 0;
    if (result == 0) result = CALL(cuLinkComplete, linker, &linked, &size);
    // The linker's own image is loaded; a fresh loader is not what is tested.
    if (result == 0) result = CALL(cuModuleLoadData, &module, linked);
    MUST(cuLinkDestroy, linker);
  }
  std::printf("result %d info '%s' %zu error '%s' %zu time %zu\n", result, info,
              reinterpret_cast<size_t>(values[1]), error, reinterpret_cast<size_t>(values[3]),
              reinterpret_cast<size_t>(values[4]));
  if (result == 0) std::puts(computes(functionOf(module, isLibrary)) ? "right" : "wrong");
  return 0;
}

// One after the other, each with a text of its own.
int runSeveral() {
  constexpr unsigned kModules = 5;
  for (unsigned i = 0; i < kModules; ++i) {
    void* module = nullptr;
    const std::string text = imageOf("good") + "// one of several: " + std::to_string(i) + "\n";
    MUST(cuModuleLoadData, &module, text.c_str());
    std::puts(computes(functionOf(module, false)) ? "right" : "wrong");
  }
  return 0;
}

// Many at once, each with a text of its own.
int runThreads() {
  std::atomic<unsigned> failed{0};
  std::vector<void*> modules(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < modules.size(); ++i)
    threads.emplace_back([&, i] {
      const std::string text = imageOf("good") + "// " + std::to_string(i) + "\n";
      if (cuModuleLoadData(&modules[i], text.c_str()) != 0) ++failed;
    });
  for (std::thread& t : threads) t.join();
  for (void* const m : modules)
    if (m != nullptr && !computes(functionOf(m, false))) ++failed;
  std::printf("failed: %u\n", failed.load());
  return 0;
}

std::atomic<int> children{0};

// The program's own children are all that it sees.
int runChildren() {
  signal(SIGCHLD, [](int) { ++children; });
  void* module = nullptr;
  const std::string text = imageOf("good");
  if (cuModuleLoadData(&module, text.c_str()) != 0) return 2;
  const pid_t other = waitpid(-1, nullptr, 0);
  std::printf("signals %d, children %d %s\n", children.load(), static_cast<int>(other), std::strerror(errno));
  // A child that began as a copy loads, too.
  if (const pid_t copy = fork(); copy == 0) {
    std::printf("copy: %d\n", cuModuleLoadData(&module, text.c_str()));
    std::fflush(stdout);
    _exit(0);
  } else if (copy > 0) {
    waitpid(copy, nullptr, 0);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  way = argv[1];
  const std::string loader = argv[2], what = argv[3];
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (loader == "exec") {
    char* const words[] = {argv[0], argv[1], argv[4], argv[3], nullptr};
    return execv(argv[0], words);
  }
  if (way == "path")
    library = dlopen(std::getenv("DRIVER"), RTLD_NOW);
  else if (way != "linked")
    library = dlopen("libcuda.so.1", RTLD_NOW);
  void* context = nullptr;
  MUST(cuInit, 0);
  MUST(cuDevicePrimaryCtxRetain, &context, 0);
  MUST(cuCtxSetCurrent, context);
  if (loader == "threads") return runThreads();
  if (loader == "several") return runSeveral();
  if (loader == "children") return runChildren();
  return run(loader, what);
}
