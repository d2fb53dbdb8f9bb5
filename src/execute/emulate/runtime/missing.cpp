// What the emulated runtime does not have: each is there under its name, so that programs that mention it start.
#include <fmt/format.h>

#include <string_view>

#include "emulate/runtime/exported.h"
#include "support/log.h"

namespace {

int sayMissing(const char* name) {
  using namespace ptxopt::emulate;
  State& s = State::get();
  const std::lock_guard guard(s.lock);
  static auto* const said = new std::set<std::string_view>;
  ++s.launcher.totals().missing;
  s.writeTotals();
  if (said->insert(name).second)
    ptxopt::log::asked(ptxopt::log::kEmulate,
                       fmt::format("the program calls {}, which ptxopt does not execute", name));
  return lastError() = static_cast<int>(Code::NotSupported);
}

}  // namespace

#define EMULATE_MISSING(name)            \
  CUDA_VERSIONS_OF(missing_##name, name) \
  extern "C" __attribute__((visibility("default"), used)) int missing_##name() { return sayMissing(#name); }
#include "emulate/runtime/missing.def"
#undef EMULATE_MISSING
