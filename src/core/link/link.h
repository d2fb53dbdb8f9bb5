// Several PTX texts as one, as nvlink does it for machine code: the texts of a program's files, compiled as relocatable
// code (nvcc -rdc=true), become one module, in which calls and variables meet their definitions.
//
// - A name that is .visible, .weak, .common or .extern means the same everywhere. One definition is kept: the strong
//   one, otherwise the first that is weak, otherwise the largest .common one; of `.extern .shared x[]` the one with the
//   largest alignment. Two strong ones are an error, and so is a definition of another size than a declaration says.
// - Other names are a text's own. One that another text has, too, gets another spelling.
// - Prototypes come first, then variables, aliases, and functions, each in the order of the texts; a variable whose
//   address is the initial value of another one comes before that.
// - Numbers of source files are made distinct. Sections of debug information are left out, and what .loc takes from
//   them (function_name, inlined_at), and `debug` of .target.
// - The version is the newest one; the target that of the newest architecture. Whether ptxas takes all of the text for
//   it, ptxas says.
//
// What nobody defines stays .extern. Registers outside of functions and texts of different address sizes or texture
// modes are not supported, and said. Linear in the size of the texts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace ptxopt::link {

struct Input {
  std::string_view text;
  std::string fileName;  // for messages
};

// `FILE:LINE:COLUMN: error: MESSAGE`, with the line and a caret where one place is meant.
struct LinkError {
  std::string message;
};

std::variant<std::string, LinkError> link(std::span<const Input> inputs);

}  // namespace ptxopt::link
