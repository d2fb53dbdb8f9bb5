// In front of the stand-in for the driver: in every text but the first that a process loads, $TUNE_TEST_OLD becomes
// $TUNE_TEST_NEW, as if a variant did something else than the input.
#include <dlfcn.h>

#include <cstdlib>
#include <list>
#include <string>

#pragma GCC diagnostic ignored "-Wmissing-declarations"

extern "C" __attribute__((visibility("default"))) int cuModuleLoadData(void** module, const void* image) {
  static std::list<std::string> texts;  // the stand-in reads on in them
  const auto next = reinterpret_cast<int (*)(void**, const void*)>(dlsym(RTLD_NEXT, "cuModuleLoadData"));
  std::string& text = texts.emplace_back(static_cast<const char*>(image));
  const std::string from = std::getenv("TUNE_TEST_OLD"), to = std::getenv("TUNE_TEST_NEW");
  for (std::size_t at = 0; texts.size() > 1 && (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return next(module, text.c_str());
}
