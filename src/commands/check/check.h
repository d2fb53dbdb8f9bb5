// What is wrong with a PTX text, without asking ptxas: all of it, not the first.
//
// Errors are what ptxas refuses. The tables are made to agree with it (docs/check.md): what is not known is not an
// error. Warnings are what ptxas takes and is hardly meant. Cost: linear in the text, but for uninitialised registers
// (uninitialised.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/requirements.h"
#include "support/id.h"

namespace ptxopt::check {

enum class Severity : uint8_t { Error, Warning };
enum class CheckId : uint8_t {
#define PTXOPT_CHECK(id, name, severity, summary) id,
#include "check/checks.def"
};

struct CheckInfo {
  std::string_view name;
  Severity severity;
  std::string_view summary;
};
std::span<const CheckInfo> checkTable();
inline const CheckInfo& info(CheckId id) { return checkTable()[static_cast<std::size_t>(id)]; }

struct Finding {
  CheckId check;
  std::size_t offset;  // in bytes of the text
  std::string message;
};

// The least that a text needs, and the place of what asks for it.
struct Needs {
  Requirement least;
  std::size_t versionOffset = 0, targetOffset = 0;
  std::string versionReason, targetReason;  // "'shfl.sync.bfly.b32'"; empty: nothing asks for more than any text
};

struct Checked {
  std::vector<Finding> findings;  // in the order of the text
  bool isRead = false;            // without errors of syntax and names: what follows is known
  bool hasSyntaxErrors = false;
  Needs needs;
  std::string version, target;  // as written
};

// `optix`: as for text::parse.
Checked checkText(std::string_view text, const std::string& fileName, bool optix);

}  // namespace ptxopt::check
