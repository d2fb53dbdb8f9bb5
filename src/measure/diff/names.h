// Names of functions for tables: demangled, and not as long as templates make them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diff/diff.h"

namespace ptxopt::diff {

struct NameOptions {
  bool mangled = false;
  std::size_t width = 0;  // bytes; 0: as long as they are
};

// Demangled, without a leading `void`, unless that is not wanted or there is no such thing.
std::string fullName(const std::string& name, const NameOptions& options);

// For each row. Beyond the width the parameters go, then the arguments of templates, then the middle; but names stay
// whole where two of one file and architecture would look the same. A row that was matched with another name says
// so, and device functions say what they are.
std::vector<std::string> displayNames(const std::vector<Row>& rows, const NameOptions& options);

}  // namespace ptxopt::diff
