// A program whose launches are compared, for tests of ptxopt jit --compare:  compared CASE LAUNCHES
//
// It launches a kernel so many times, each time on what the last one left, and prints `right` if memory then holds what it should: each
// launch has run once. CASE is how, or on what; `file`: of the fat binary $IMAGE.
#include "add_loop.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemFree_v2(uint64_t);
int cuMemAllocHost_v2(void**, size_t);
int cuMemAllocManaged(uint64_t*, size_t, unsigned);
int cuMemAllocAsync(uint64_t*, size_t, void*);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemcpyDtoH_v2(void*, uint64_t, size_t);
int cuModuleLoadData(void**, const void*);
int cuModuleUnload(void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleGetGlobal_v2(uint64_t*, size_t*, void*, const char*);
int cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetKernel(void**, void*, const char*);
int cuLibraryGetKernelCount(unsigned*, void*);
int cuLibraryEnumerateKernels(void**, unsigned, void*);
int cuKernelGetName(const char**, void*);
int cuKernelGetFunction(void**, void*);
int cuFuncSetAttribute(void*, int, int);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuLaunchKernelEx(const void*, void*, void**, void**);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                              void**);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuStreamBeginCapture_v2(void*, int);
int cuStreamEndCapture(void*, void**);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphLaunch(void*, void*);
int cuGraphCreate(void**, unsigned);
int cuGraphAddKernelNode_v2(void**, void*, void* const*, size_t, const void*);
}

#define MUST(call) \
  if (const int result = (call); result != 0) std::printf(#call ": %d\n", result), std::exit(2)

namespace {

constexpr unsigned kThreads = 32, kN = 9, kBytes = 4 * kThreads;

const char kHead[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
const char kVariables[] = ".visible .global .u32 count[32];\n.visible .const .u32 unused[4];\n";
const char kPrintf[] = ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n";
const char kMalloc[] = ".extern .func (.param .b64 r) malloc (.param .b64 n);\n";
const char kParameters[] = "(.param .u64 p, .param .u32 n)";
// Each word becomes n / 3 more, n times. An original has a division; $BASE is where the words are.
const char kBody[] = R"( {
  .reg .b64 %rd<5>; .reg .b32 %r<9>; .reg .pred %p<2>;
  $BASE;
)" ADD_LOOP;
const char kCaller[] = R"( {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  { .param .b64 p; .param .b32 n;
    st.param.b64 [p], %rd1;
    st.param.b32 [n], %r1;
    call mov, (p, n); }
  ret;
}
)";

std::string bodyWith(const std::string& base) {
  std::string body = kBody;
  return body.replace(body.find("$BASE"), 5, base);
}

// The kernel has the name of an opcode.
std::string textOf(const std::string& name) {
  const std::string plain = "ld.param.u64 %rd1, [p]", parameters = kParameters;
  if (name == "variable")
    return std::string(kHead) + kVariables + ".visible .entry add" + parameters +
           bodyWith("mov.u64 %rd1, count; cvta.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd1, %rd1");
  if (name == "function")
    return std::string(kHead) + ".func mov(.param .b64 p, .param .b32 n)" + bodyWith(plain) +
           ".visible .entry add" + parameters + kCaller;
  const char* const more = name == "prints" ? kPrintf : name == "heap" ? kMalloc : "";
  return std::string(kHead) + more + ".visible .entry add" + parameters + bodyWith(plain) +
         ".visible .entry other" + parameters + " {\n  ret;\n}\n";
}

struct Program {
  std::string name;
  void *module = nullptr, *library = nullptr, *function = nullptr, *stream = nullptr, *graph = nullptr;
  uint64_t data = 0, global = 0, table = 0;
  uint32_t n = kN;
  bool isOfHost = false;

  void load() {
    if (name == "file") return loadFile();
    const std::string text = textOf(name);
    if (name == "library" || name == "kernel") {
      MUST(cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
      MUST(cuLibraryGetKernel(&function, library, "add"));
      if (name == "kernel") MUST(cuKernelGetFunction(&function, function));
      return;
    }
    MUST(cuModuleLoadData(&module, text.c_str()));
    MUST(cuModuleGetFunction(&function, module, "add"));
    if (name == "attribute") MUST(cuFuncSetAttribute(function, 8, 1024));
  }
  // A fat binary, as the runtime hands it over.
  void loadFile() {
    std::ifstream in(std::getenv("IMAGE"), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const struct {
      unsigned magic = 0x466243B1, version = 1;
      const void* container;
      const void* linked = nullptr;
    } wrapper{.container = bytes.data()};
    MUST(cuLibraryLoadData(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
    MUST(cuLibraryGetKernel(&function, library, "add"));
  }
  void allocate() {
    void* host = nullptr;
    size_t size = 0;
    if (name == "host" || name == "leads") MUST(cuMemAllocHost_v2(&host, kBytes));
    if (name == "host") data = reinterpret_cast<uint64_t>(host), isOfHost = true;
    if (name == "managed") MUST(cuMemAllocManaged(&data, kBytes, 1));
    if (name == "ordered") MUST(cuMemAllocAsync(&data, kBytes, nullptr));
    if (name == "large") MUST(cuMemAlloc_v2(&data, std::size_t{3} << 20));
    if (data == 0) MUST(cuMemAlloc_v2(&data, kBytes));
    if (name == "variable") MUST(cuModuleGetGlobal_v2(&global, &size, module, "count"));
    if (name == "leads") {
      MUST(cuMemAlloc_v2(&table, sizeof host));
      MUST(cuMemcpyHtoD_v2(table, static_cast<const void*>(&host), sizeof host));
    }
    write();
  }
  uint64_t words() const { return global != 0 ? global : data; }
  void write() {
    std::vector<uint32_t> values(kThreads);
    for (unsigned i = 0; i < kThreads; ++i) values[i] = i;
    if (isOfHost)
      std::memcpy(reinterpret_cast<void*>(data), values.data(), kBytes);
    else
      MUST(cuMemcpyHtoD_v2(words(), values.data(), kBytes));
  }
  void launch() {
    void* places[] = {&data, &n};
    if (name == "extra") {
      struct {
        uint64_t p;
        uint32_t n;
      } bytes{data, n};
      size_t size = 12;
      void* extra[] = {reinterpret_cast<void*>(1), &bytes, reinterpret_cast<void*>(2), &size, nullptr};
      MUST(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, extra));
    } else if (name == "config" || name == "events") {
      struct {
        unsigned id, padding, values[16];
      } event{7, 0, {}};
      const struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attributes;
        unsigned count;
      } config{
          {1, 1, 1}, {kThreads, 1, 1}, 0, nullptr, name == "events" ? &event : nullptr, name == "events" ? 1U : 0U};
      MUST(cuLaunchKernelEx(&config, function, places, nullptr));
    } else if (name == "cooperative") {
      MUST(cuLaunchCooperativeKernel(function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, places));
    } else {
      MUST(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 0, stream, places, nullptr));
    }
  }
  void launchAll(unsigned launches) {
    if (name == "captured") {
      void* captured = nullptr;
      MUST(cuStreamCreate(&stream, 1));
      MUST(cuStreamBeginCapture_v2(stream, 0));
      launch();
      MUST(cuStreamEndCapture(stream, &captured));
      MUST(cuGraphInstantiateWithFlags(&graph, captured, 0));
      for (unsigned i = 0; i < launches; ++i) MUST(cuGraphLaunch(graph, stream));
      MUST(cuStreamSynchronize(stream));
      return;
    }
    if (name == "node") return launchNode(launches);
    for (unsigned i = 0; i < launches; ++i) launch();
  }
  // First as it is, then in a graph.
  void launchNode(unsigned launches) {
    void *made = nullptr, *node = nullptr, *places[] = {&data, &n};
    const struct {
      void* function;
      unsigned grid[3], block[3], shared;
      void **parameters, **extra, *kernel, *context;
    } kernel{function, {1, 1, 1}, {kThreads, 1, 1}, 0, places, nullptr, nullptr, nullptr};
    launch();
    MUST(cuGraphCreate(&made, 0));
    MUST(cuGraphAddKernelNode_v2(&node, made, nullptr, 0, &kernel));
    MUST(cuGraphInstantiateWithFlags(&graph, made, 0));
    for (unsigned i = 1; i < launches; ++i) MUST(cuGraphLaunch(graph, nullptr));
  }
  bool isRight(unsigned launches) {
    std::vector<uint32_t> values(kThreads);
    if (isOfHost)
      std::memcpy(values.data(), reinterpret_cast<void*>(data), kBytes);
    else
      MUST(cuMemcpyDtoH_v2(values.data(), words(), kBytes));
    // The driver may add to the last word (DRIVER_VARIES).
    for (unsigned i = 0; i + 1 < kThreads; ++i)
      if (values[i] != i + launches * kN * (kN / 3)) return false;
    return true;
  }
};

// What the program sees of a library.
void listKernels() {
  void* library = nullptr;
  unsigned count = 0;
  MUST(cuLibraryLoadData(&library, textOf("").c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  MUST(cuLibraryGetKernelCount(&count, library));
  std::vector<void*> kernels(8);
  MUST(cuLibraryEnumerateKernels(kernels.data(), 8, library));
  std::printf("%u:", count);
  for (void* const kernel : kernels)
    if (const char* name = nullptr; kernel != nullptr && cuKernelGetName(&name, kernel) == 0)
      std::printf(" %s", name);
  std::puts("");
}

void run(const std::string& name, unsigned launches) {
  Program program;
  program.name = name;
  program.load();
  program.allocate();
  program.launchAll(launches);
  std::puts(program.isRight(launches) ? "right" : "wrong");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string name = argv[1];
  const auto launches = static_cast<unsigned>(std::atoi(argv[2]));
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  void* context = nullptr;
  MUST(cuInit(0));
  MUST(cuDevicePrimaryCtxRetain(&context, 0));
  MUST(cuCtxSetCurrent(context));
  if (name == "list") return listKernels(), 0;
  if (name == "reload") {  // the driver may give a handle again
    for (unsigned i = 0; i < 3; ++i) {
      Program program;
      program.load();
      program.allocate();
      program.launchAll(launches);
      std::puts(program.isRight(launches) ? "right" : "wrong");
      MUST(cuMemFree_v2(program.data));
      MUST(cuModuleUnload(program.module));
    }
    return 0;
  }
  if (name != "threads") return run(name, launches), 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      MUST(cuCtxSetCurrent(context));
      run("", launches);
    });
  for (std::thread& t : threads) t.join();
  return 0;
}
