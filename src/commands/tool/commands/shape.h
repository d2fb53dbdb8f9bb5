// Shapes of grids, blocks and clusters on the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exec/shape.h"

namespace ptxopt::tool {

// "X", "X,Y" or "X,Y,Z", each at least 1; none for anything else.
std::optional<exec::Dim3> parseShape(std::string_view text);

// What is said of an option whose text parseShape() does not take.
std::string shapeError(std::string_view option, std::string_view text);

}  // namespace ptxopt::tool
