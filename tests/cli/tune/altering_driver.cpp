// In front of the stub of the driver: in every text but the first that a process loads, $TUNE_TEST_OLD becomes
// $TUNE_TEST_NEW, as if a variant did something else than the input. With $TUNE_TEST_ELSEWHERE it gives no address that is
// asked for. With
// $TUNE_TEST_RACE buffers of 128 bytes are read differently from the third launch on, as after a race that seldom shows.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <list>
#include <string>

#pragma GCC diagnostic ignored "-Wmissing-declarations"

#define SEEN extern "C" __attribute__((visibility("default"))) int

SEEN cuModuleLoadData(void** module, const void* image) {
  static std::list<std::string> texts;  // the stub reads on in them
  const auto next = reinterpret_cast<int (*)(void**, const void*)>(dlsym(RTLD_NEXT, "cuModuleLoadData"));
  std::string& text = texts.emplace_back(static_cast<const char*>(image));
  const std::string from = std::getenv("TUNE_TEST_OLD"), to = std::getenv("TUNE_TEST_NEW");
  for (std::size_t at = 0; texts.size() > 1 && (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return next(module, text.c_str());
}

SEEN cuMemAddressReserve(uint64_t* address, std::size_t size, std::size_t alignment, uint64_t wanted,
                         unsigned long long flags) {
  const auto next = reinterpret_cast<decltype(&cuMemAddressReserve)>(dlsym(RTLD_NEXT, "cuMemAddressReserve"));
  return next(address, size, alignment, std::getenv("TUNE_TEST_ELSEWHERE") == nullptr ? wanted : 0, flags);
}

namespace {
unsigned waits = 0;  // as many as launches whose results are read
}

SEEN cuCtxSynchronize() {
  ++waits;
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "cuCtxSynchronize"))();
}

SEEN cuMemcpyDtoH_v2(void* to, uint64_t from, std::size_t size) {
  const auto next = reinterpret_cast<decltype(&cuMemcpyDtoH_v2)>(dlsym(RTLD_NEXT, "cuMemcpyDtoH_v2"));
  const int result = next(to, from, size);
  if (std::getenv("TUNE_TEST_RACE") != nullptr && waits > 2 && size == 128) ++*static_cast<unsigned char*>(to);
  return result;
}
