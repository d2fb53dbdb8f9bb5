// What must hold for any bytes given to ptxopt::optimize.
//
// Bytes that are no PTX: status InvalidInput, a message with a place, no output.
// Bytes that are PTX: -O0 gives them back, without NULs at the end; --reprint gives PTX that is its own reprint; each pass, and all of them,
// keep the invariants of the internal representation and give PTX on which they find nothing more to do. A module that threads
// read in parts is that of one builder.
//
// Besides libFuzzer's own mutations there are those of mutate.h, which know tokens and statements.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "mutate.h"
#include "ptxopt/ptxopt.h"
#include "text/parse.h"
#include "text/print.h"

namespace {

using ptxopt::Options;
using ptxopt::Result;
using ptxopt::Status;

void require(bool holds, std::string_view what, std::string_view detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "parse_fuzzer: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// FILE:LINE:COL: error: MESSAGE, the line, the caret, and nothing of unbounded length.
void checkMessage(const Result& result) {
  const std::string_view error = result.error;
  require(error.starts_with("<input>:") && error.find(": error: ") != std::string_view::npos,
          "message without a place", error);
  require(error.ends_with("^\n"), "message without a caret", error);
  require(error.size() < 2000, "a very long message", error.substr(0, 2000));
  require(result.output.empty(), "output beside an error");
}

Options withPasses(std::vector<std::string> passes) {
  Options options;
  options.passes = std::move(passes);
  options.verifyEach = true;
  return options;
}

void checkPasses(std::string_view text, const std::vector<std::string>& passes) {
  const Options options = withPasses(passes);
  const Result once = ptxopt::optimize(text, options);
  require(once.status == Status::Ok, "a pass failed", once.error);
  const Result twice = ptxopt::optimize(once.output, options);
  require(twice.status == Status::Ok, "the output of a pass is no PTX", twice.error + once.output);
  require(twice.instructions == once.instructionsAfter, "the output has another number of instructions",
          once.output);
}

void checkParts(std::string_view text, unsigned threads) {
  const auto parts = ptxopt::text::parseInParts(text, {}, false, threads, 1);
  if (parts == nullptr) return;
  const auto parsed = ptxopt::text::parse(text);
  const auto* const whole = std::get_if<std::unique_ptr<ptxopt::Module>>(&parsed);
  require(whole != nullptr, "parts of what is no PTX");
  require(parts->names.size() == (*whole)->names.size(), "parts with other names");
  const std::string printed = ptxopt::text::print(*parts, {.reprint = true});
  require(printed == ptxopt::text::print(**whole, {.reprint = true}), "another module of parts", printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const unsigned threads : {2u, 3u}) checkParts(text, threads);

  Options verbatim;
  verbatim.level = 0;
  verbatim.verifyEach = true;
  const Result copy = ptxopt::optimize(text, verbatim);
  if (copy.status != Status::Ok) {
    require(copy.status == Status::InvalidInput, "neither Ok nor InvalidInput", copy.error);
    checkMessage(copy);
    return -1;  // not worth keeping: only half the tool has seen it
  }
  const std::string_view withoutNuls = text.substr(0, text.find_last_not_of('\0') + 1);
  require(copy.output == withoutNuls, "-O0 changed the text", copy.output);

  Options reprint = verbatim;
  reprint.reprint = true;
  const Result printed = ptxopt::optimize(text, reprint);
  require(printed.status == Status::Ok, "--reprint failed", printed.error);
  const Result again = ptxopt::optimize(printed.output, reprint);
  require(again.status == Status::Ok, "the output of --reprint is no PTX", again.error + printed.output);
  require(again.output == printed.output, "--reprint is no fixed point", printed.output + "----\n" + again.output);
  require(again.instructions == copy.instructions, "--reprint changed the number of instructions", printed.output);

  checkPasses(text, {"dce"});
  checkPasses(text, {"rename-webs"});
  checkPasses(text, {"dce", "rename-webs", "dce"});
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  return fuzz::store(fuzz::mutate(text, seed), data, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, std::size_t aSize, const uint8_t* b,
                                                 std::size_t bSize, uint8_t* out, std::size_t most, unsigned seed) {
  const std::string_view left(reinterpret_cast<const char*>(a), aSize),
      right(reinterpret_cast<const char*>(b), bSize);
  return fuzz::store(fuzz::crossOver(left, right, seed), out, most);
}
