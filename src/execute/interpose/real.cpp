// One table has a row for each function, with ours and, once found, the driver's. Our dlsym() and dlopen() end in tail
// calls of glibc's, whose results depend on where the call comes from.
#include "interpose/real.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <string>

#include "interpose/deep_binding.h"

extern "C" {
#define INTERPOSED_FUNCTION(name) void name();
#include INTERPOSED_FUNCTIONS
}

namespace ptxopt::interpose {
namespace {

// What may throw would not be called instead of ours.
using Dlsym = void* (*)(void*, const char*) noexcept;
using Dlopen = void* (*)(const char*, int) noexcept;

struct Row {
  const char* name;
  void (*wrapper)();
  std::atomic<void*> real;
};
Row rows[] = {
#define INTERPOSED_FUNCTION(name) {#name, name, {nullptr}},
#include INTERPOSED_FUNCTIONS
};

constexpr std::size_t kAlways = 0
#define INTERPOSED_FUNCTION(name) +1
#define INTERPOSED_ON_REQUEST(name)
#include INTERPOSED_FUNCTIONS
    ;

// Those that take the place of the driver's.
std::span<Row> rowsInUse() { return {rows, isRequested() ? std::size(rows) : kAlways}; }

// glibc's: ours hides it.
template <typename F>
F glibcs(const char* name) {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
    if (void* const f = dlvsym(RTLD_NEXT, name, version); f != nullptr) return reinterpret_cast<F>(f);
  return F{nullptr};
}
Dlsym realDlsym() {
  static const auto found = glibcs<Dlsym>("dlsym");
  return found;
}
Dlopen realDlopen() {
  static const auto found = glibcs<Dlopen>("dlopen");
  return found;
}

std::atomic<bool> isRequestOver = false;

// The driver: the one that the program has loaded, wherever it lies, or else the one that the dynamic linker finds.
std::atomic<void*> loaded;

void* library() {
  if (void* const known = loaded; known != nullptr) return known;
  void* const found = realDlopen()("libcuda.so.1", RTLD_NOW);
  void* none = nullptr;
  loaded.compare_exchange_strong(none, found);
  return loaded;
}

// `function` is one of the driver's that the program asked for by dlsym().
void noteLibraryOf(void* function) {
  Dl_info info;
  if (loaded != nullptr || dladdr(function, &info) == 0 || info.dli_fname == nullptr) return;
  void* const found = realDlopen()(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void* none = nullptr;
  loaded.compare_exchange_strong(none, found);
}

Row* rowNamed(const char* name) {
  for (Row& row : rowsInUse())
    if (std::strcmp(row.name, name) == 0) return &row;
  return nullptr;
}

void* wrapperOf(const Row& row) { return reinterpret_cast<void*>(row.wrapper); }

// What the handle has under a name of ours; nullptr where it is none of ours.
void* oursInsteadOf(void* handle, const char* name) {
  if (name == nullptr || std::strncmp(name, "cu", 2) != 0 || handle == RTLD_NEXT || handle == RTLD_DEFAULT)
    return nullptr;
  Row* const row = rowNamed(name);
  if (row == nullptr) return nullptr;
  void* const found = realDlsym()(handle, name);
  if (found == nullptr) return nullptr;
  void* none = nullptr;
  if (found != wrapperOf(*row)) {
    noteLibraryOf(found);
    row->real.compare_exchange_strong(none, found);
  }
  return wrapperOf(*row);
}

// Whether the program would find nothing under that name without us: no driver is there, or it has no such function.
bool isOursAlone(void* handle, const char* name) {
  if (handle != RTLD_DEFAULT || name == nullptr || std::strncmp(name, "cu", 2) != 0) return false;
  return std::ranges::any_of(rows, [&](const Row& row) { return std::strcmp(row.name, name) == 0; }) &&
         realDlsym()(RTLD_NEXT, name) == nullptr;
}

}  // namespace

bool isRequested() {
#ifdef INTERPOSED_REQUEST
  static const bool is = std::getenv(INTERPOSED_REQUEST) != nullptr;
  return is && !isRequestOver;
#else
  return !isRequestOver;
#endif
}

void endRequest() { isRequestOver = true; }

void* driverFunction(const char* name) { return library() != nullptr ? realDlsym()(library(), name) : nullptr; }

void* realFunction(Id id) {
  Row& row = rows[static_cast<unsigned>(id)];
  if (void* const known = row.real; known != nullptr) return known;
  void* const found = driverFunction(row.name);
  row.real = found;
  return found;
}

void* ours(const char* name) {
  const Row* const row = rowNamed(name);
  return row != nullptr ? wrapperOf(*row) : nullptr;
}

void* exchanged(const char* name, void* found, bool isPerThread) {
  if (found == nullptr || name == nullptr) return found;
  for (const Row& row : rowsInUse())
    if (found == wrapperOf(row)) return found;
  for (Row& row : rowsInUse()) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(row.name, name, length) != 0) continue;
    if (found == realFunction(static_cast<Id>(&row - rows))) return wrapperOf(row);
  }
  // An older version, which has other parameters.
  if (found == driverFunction(name)) return found;
  // A function that is exported under no name: the one that this name means today. Among those on request it may be a
  // later one, with other parameters, and is left to the program.
  const std::string base = name;
  for (const std::string& suffix : {std::string(isPerThread ? "_ptsz" : ""), std::string("_v2"), std::string()})
    if (Row* const row = rowNamed((base + suffix).c_str()); row != nullptr && row < rows + kAlways) {
      row->real = found;
      return wrapperOf(*row);
    }
  return found;
}

}  // namespace ptxopt::interpose

// Who asks for RTLD_NEXT means what comes after itself: glibc finds out who that is by where the call returns to, so its function
// has to take the place of ours, whatever else is optimized.
#ifdef __clang__
#define INTERPOSE_OPTIMIZED
#define INTERPOSE_TAKES_OUR_PLACE [[clang::musttail]]
#else
#define INTERPOSE_OPTIMIZED __attribute__((optimize("O2")))
#define INTERPOSE_TAKES_OUR_PLACE
#endif
extern "C" __attribute__((visibility("default"))) INTERPOSE_OPTIMIZED void* dlsym(
    void* __restrict handle, const char* __restrict name) noexcept {
  // Without variables: clang would have to end them after the last call.
  ptxopt::interpose::redirectDlsym(reinterpret_cast<void*>(dlsym),
                                   reinterpret_cast<void*>(ptxopt::interpose::realDlsym()));
  if (ptxopt::interpose::isOursAlone(handle, name)) return nullptr;
  if (ptxopt::interpose::oursInsteadOf(handle, name) != nullptr)
    return ptxopt::interpose::oursInsteadOf(handle, name);
  INTERPOSE_TAKES_OUR_PLACE return ptxopt::interpose::realDlsym()(handle, name);
}

// The same holds of dlopen(): where it looks depends on who calls.
extern "C" __attribute__((visibility("default"))) INTERPOSE_OPTIMIZED void* dlopen(const char* file,
                                                                                   int flags) noexcept {
  ptxopt::interpose::noteFlags(flags);
  INTERPOSE_TAKES_OUR_PLACE return ptxopt::interpose::realDlopen()(file, flags);
}
