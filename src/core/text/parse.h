// PTX text to a module.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "ir/module.h"

namespace ptxopt::text {

// Why a text is not PTX, and where.
struct ParseError {
  std::size_t offset = 0;  // in bytes
  SourcePosition position;
  std::string message;
};

// Parses `source`, which must outlive the module. Linear in time; the memory beyond the module does not grow with
// it. `fileName` is kept for messages.
//
// `optix`: functions that OptiX defines when it links the module, `_optix_*` and `_rt_*`, may be called undeclared. Nothing
// is known of them: the callee is an operand Builtin.
//
// `jobs`: threads that read a large text; 0: one a core.
std::variant<std::unique_ptr<Module>, ParseError> parse(std::string_view source, std::string fileName = "<input>",
                                                        bool optix = false, unsigned jobs = 1);

// The same module, made by several threads: each reads a part of `leastPart` bytes or more. None where the text has no two such
// parts, and where one builder has to read it: it has an error, an alias, or an index of a variable of another part.
inline constexpr std::size_t kLeastPart = 1 << 18;
std::unique_ptr<Module> parseInParts(std::string_view source, std::string fileName, bool optix, unsigned threads,
                                     std::size_t leastPart = kLeastPart);

// Whether it calls undeclared functions of OptiX, and has no other error: ptxas refuses it.
bool callsOptix(std::string_view source, const std::string& fileName = "<input>");

// What could be read of a text, and everything that is wrong with it, in the order of the text. After an error the parse
// goes on with the next statement or item. An undefined name is an error once a function; its operand is a Builtin.
// The module is not for passes unless there are no errors.
struct Recovered {
  static constexpr std::size_t kMostErrors = 1000;
  std::unique_ptr<Module> module;  // none where the text is another format
  std::vector<ParseError> errors;
};
Recovered parseAll(std::string_view source, std::string fileName = "<input>", bool optix = false);

// `FILE:LINE:COL: error: MESSAGE`, the line, and a caret below the place.
std::string render(const ParseError& error, std::string_view fileName, std::string_view severity = "error");

}  // namespace ptxopt::text
