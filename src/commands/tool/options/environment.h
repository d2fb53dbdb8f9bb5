// The environment variables that the program reads, as environment.def lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptxas/abilities.h"

namespace ptxopt::tool {

struct Variable {
  std::string_view name;
  std::string (*whatIsWrong)(const std::string& value);  // in words that follow the value; empty: nothing
  std::string_view summary;
};

std::span<const Variable> environmentTable();
// What is wrong with their values, and names that are nearly one of theirs, a line each: what is neither wrong nor
// right for any program, and who else reads a PTXOPT_... is not known. Where a ptxas is, find.h says.
std::vector<std::string> environmentWarnings();
// What else is wrong with their values, for ptxopt doctor: of those that some commands read, and others do not.
std::vector<std::string> environmentProblems();
// Those that are set, but for those that every program reads.
std::vector<std::pair<std::string, std::string>> environmentSet();
// The ptxas for what is needed (choose.h), with a warning on standard error for each variable that was passed over.
std::string findPtxasAloud(const std::string& given, const ptxas::PtxNeed& need = {});
// A paragraph with the names of those that are this program's business alone, for --help.
std::string environmentHelp();

}  // namespace ptxopt::tool
