#include <algorithm>
#include <iterator>

#include "emulate/driver/driver.h"

namespace ptxopt::emulate {
namespace {

struct ResultRow {
  Code code;
  int number;
  const char* name;
};
constexpr ResultRow kResultRows[] = {
#define EMULATE_RESULT(code, number, name) {Code::code, number, name},
#include "emulate/driver/results.def"
#undef EMULATE_RESULT
};

}  // namespace

int resultOf(Code code) {
  const auto* const row = std::find_if(std::begin(kResultRows), std::end(kResultRows),
                                       [&](const ResultRow& r) { return r.code == code; });
  return row != std::end(kResultRows) ? row->number : resultOf(Code::Unknown);
}

const char* resultName(int result) {
  const auto* const row = std::find_if(std::begin(kResultRows), std::end(kResultRows),
                                       [&](const ResultRow& r) { return r.number == result; });
  return row != std::end(kResultRows) ? row->name : nullptr;
}

int answerDriver(const char* call, const std::function<void()>& body, Answer by) {
  const int before = lastError();
  const int error = by(call, body);
  lastError() = before;
  return resultOf(static_cast<Code>(error));
}

}  // namespace ptxopt::emulate

using namespace ptxopt::emulate;

CUDA_DRIVER_API int cuGetErrorName(int result, const char** name) {
  *name = resultName(result);
  return *name == nullptr ? resultOf(Code::InvalidValue) : 0;
}
CUDA_DRIVER_API int cuGetErrorString(int result, const char** text) {
  // The runtime has the same numbers for all but those that only it has.
  *text = resultName(result) != nullptr ? textOf(result) : nullptr;
  return *text == nullptr ? resultOf(Code::InvalidValue) : 0;
}
