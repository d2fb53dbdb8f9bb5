#include "emulate/error.h"

#include <algorithm>
#include <iterator>

namespace ptxopt::emulate {
namespace {

struct ErrorRow {
  int number;
  const char *name, *text;
};
constexpr ErrorRow kErrorRows[] = {
#define EMULATE_ERROR(id, number, name, text) {number, name, text},
#include "emulate/errors.def"
#undef EMULATE_ERROR
};

const ErrorRow* rowOfError(int code) {
  const auto* const row = std::find_if(std::begin(kErrorRows), std::end(kErrorRows),
                                       [&](const ErrorRow& r) { return r.number == code; });
  return row != std::end(kErrorRows) ? row : nullptr;
}

}  // namespace

const char* nameOf(int code) {
  const ErrorRow* const row = rowOfError(code);
  return row != nullptr ? row->name : nullptr;
}

const char* textOf(int code) {
  const ErrorRow* const row = rowOfError(code);
  return row != nullptr ? row->text : nullptr;
}

Code codeOf(exec::FaultKind kind) {
  using Kind = exec::FaultKind;
  switch (kind) {
    case Kind::OutOfBounds: return Code::IllegalAddress;
    case Kind::ReadOnly: return Code::InvalidAddressSpace;
    case Kind::Misaligned: return Code::MisalignedAddress;
    case Kind::Assertion: return Code::Assert;
    case Kind::StepLimit:
    case Kind::Deadlock: return Code::LaunchTimeout;
    case Kind::Unsupported: return Code::IllegalInstruction;
    case Kind::BadBranch: return Code::InvalidPc;
    case Kind::StackOverflow: return Code::HardwareStackError;
    case Kind::BadLaunch: return Code::InvalidConfiguration;
    default: return Code::LaunchFailure;
  }
}

}  // namespace ptxopt::emulate
