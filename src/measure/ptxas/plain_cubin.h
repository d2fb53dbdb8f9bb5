// The cubin that ptxas makes without -v, from one that it made with -v.
//
// ptxas writes its command line into a note, and there `-v  ` is all that differs. Without these four bytes the
// sections after the note lie elsewhere. They are laid out again as ptxas does it: in their order, each at its
// alignment, then the section headers, then the program headers. The same is done for the cubin as it is: where that
// does not give back the offsets that it has, the layout is not understood, and there is no result.
// tests/cli/wrapper/cold_warm.py compares the bytes with those of ptxas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ptxopt::ptxas {

std::optional<std::string> cubinWithoutVerbose(std::string_view cubin);

}  // namespace ptxopt::ptxas
