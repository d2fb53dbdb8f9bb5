// ptxopt as a library: PTX text in, PTX text out.
//
//     const ptxopt::Result result = ptxopt::optimize(text);
//     if (result.status == ptxopt::Status::Ok) use(result.output);
//     else std::cerr << result.error;
//
// Calls from several threads at once are fine. The library reads no files and prints nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt {

// What went wrong; the tool's exit codes.
enum class Status {
  Ok = 0,
  CheckFailed = 1,   // a check that was asked for did not hold
  Usage = 2,         // options that make no sense, or (in the tool) a file that cannot be read or written
  InvalidInput = 3,  // the text is not PTX
  Internal = 4,      // a bug in ptxopt
};

// For one function besides what Options say.
struct FunctionOptions {
  std::vector<std::string> skip;         // passes and runs of them that do not touch it, named as in Options::skip
  std::map<std::string, int64_t> knobs;  // before those of all; not of passes over the whole module
  std::vector<std::string> decline;      // as Options::decline
  bool usesProfile = true;               // Options::profile says something of it
  friend bool operator==(const FunctionOptions&, const FunctionOptions&) = default;
};

struct Options {
  // 0: parse and print. 1: clean-up. 2: everything that pays. Ignored when `passes` is set.
  int level = 2;  // 0, 1 or 2; 3 is taken as 2, with a remark
  // Exactly these passes, in this order. `dce@2` is the second dce of the pipeline: the same pass,
  // reported under that name.
  std::optional<std::vector<std::string>> passes;
  // These not, whichever way the others were chosen. The name of a pass means all its runs; where a pipeline has
  // several they are called `dce@1`, `dce@2`, ...
  std::vector<std::string> skip;
  // Loops and blocks that a pass does not change: "PASS@LABEL", "PASS@FUNCTION:LABEL", by a label of the text. One that is not there,
  // and a pass that works on whole functions only, are Status::Usage.
  std::vector<std::string> decline;
  // Functions that no pass touches, by name.
  std::vector<std::string> leave;
  // By function: what holds for it, too.
  std::map<std::string, FunctionOptions> inFunction;
  // Values of knobs that are not to have their default.
  std::map<std::string, int64_t> knobs;
  // Print everything from the internal representation, one instruction a line, dropping comments.
  bool reprint = false;
  // Check the internal representation after parsing and after each pass.
  bool verifyEach = false;
  // Make each kept analysis anew after each pass and compare.
  bool verifyAnalyses = false;
  // Remark registers that may be read before they are written.
  bool warnUninitialised = false;
  // Functions that OptiX defines when it links the text, _optix_* and _rt_*, may be called undeclared. Nothing is known of
  // them; ptxas refuses such a text.
  bool optixExternals = false;
  // Threads that parse, optimize and print functions; the output does not depend on it. 0: as many as there are cores.
  unsigned jobs = 1;
  // "sm_90a"; empty: what the text's .target says.
  std::string architecture;
  // What the user says of launches, as docs/facts.md has it; empty: nothing but what comments in the text say. A wrong one is
  // Status::Usage.
  std::string facts;
  std::string factsName = "<facts>";  // for messages
  bool factsOfSeveral = false;        // facts may name kernels of other texts: what matches none here is a remark
  // What launches were seen to have, as docs/profile.md has it; empty: nothing is known. A file that is not a profile is
  // Status::Usage; kernels that are not in the text say nothing.
  std::string profile;
  std::string profileName = "<profile>";  // for messages
  // For messages.
  std::string fileName = "<input>";
  // The text of each function before and after these passes, or after all, is appended to Result::dumps.
  std::vector<std::string> printBefore, printAfter;
  bool printAfterAll = false;
  // Make Result::reportJson.
  bool report = false;
  // Remarks of what passes found of each loop.
  bool loopRemarks = false;
  // Measure parseSeconds, printSeconds, analysisSeconds and PassSummary::seconds; else they are 0. A clock may cost more than a pass over
  // a small function.
  bool times = false;
  // Called after each function with a body, from any thread, with how many are done and how many there are.
  std::function<void(std::size_t done, std::size_t all)> progress;
  // Make Result::outcomes.
  bool outcomes = false;
};

// Something the user may want to know: an opcode that ptxopt does not know, a module left as it is.
struct Remark {
  std::string name;   // one of a fixed set: unknown-opcode, uninitialised-register, debug-module, module-registers,
                      // narrow-number-store, too-large, facts, facts-of-others, profile
  std::string place;  // FILE:LINE:COL, or the function, or empty
  std::string message;
  std::string pass;     // of what a pass found of a loop: the pass, and `name` is the form or why nothing was done
  bool missed = false;  // ... and nothing was done
};

struct PassSummary {
  std::string name;
  uint64_t changedFunctions = 0;
  uint64_t skippedFunctions = 0;  // where nothing had changed since it ran last, or it only tidies
  double seconds = 0;             // CPU time, added up over functions, if Options::times
  std::map<std::string, uint64_t> counters;
};

// What became of a function, and which others its code may depend on.
struct FunctionOutcome {
  std::string name;
  bool isKernel = false;
  bool changed = false;
  std::vector<std::string> passes;  // that changed it, each once; not those that only tidy
  // Whose names it mentioned in the text as given, as indexes of outcomes; where it calls through a register, all
  // whose address is taken anywhere. ptxas may put the code of these into it.
  std::vector<uint32_t> mentions;
  // Whether it uses a function otherwise than to call it by its name, or a variable of the module holds the address of one.
  // ptxas then may compile other functions in another way.
  bool takesAddress = false;
  // The functions that it mentions and that have no body in the text, by name, but for those that ptxas has code of (vprintf
  // and its kind). Where they are called, ptxas takes the text as relocatable code only.
  std::vector<std::string> elsewhere;
  // Where it stood in the text as given, without a byte order mark: from its first modifier, from its opening brace, and to
  // after the closing one.
  uint64_t begin = 0, body = 0, end = 0;
  // How facts say that it is launched, sizes of which they say nothing taken for 1: threads of a block, blocks. 0: they do not say.
  uint32_t threads = 0;
  uint64_t blocks = 0;
};

struct Result {
  Status status = Status::Ok;
  std::string output;  // the optimized text; empty unless status is Ok
  std::string error;   // what went wrong, ready to print, with place, line and caret
  std::string dumps;   // what printBefore and printAfter asked for
  std::vector<Remark> remarks;
  std::vector<PassSummary> passes;        // in the order of the pipeline
  std::vector<FunctionOutcome> outcomes;  // of those with a body, in the order of the text, if Options::outcomes
  // As outcomes would be of `output`, if that were given and no pass ran.
  std::vector<FunctionOutcome> outcomesAfter;
  double parseSeconds = 0, printSeconds = 0;  // CPU time, if Options::times
  double analysisSeconds = 0;                 // likewise, in which analyses were made: most of it within passes
  uint64_t functions = 0;                     // with a body
  uint64_t functionsChanged = 0;              // of these
  uint64_t instructions = 0;                  // before
  uint64_t instructionsAfter = 0;
  std::string architecture;
  std::string reportJson;  // all of this and each function by itself, if Options::report; no times. It always has
                           // the remarks on uninitialised registers
};

Result optimize(std::string_view text, const Options& options = {});

// The labels of the innermost loops of these functions, in the order of the text; empty for a loop without one. Nothing of what
// is not there, and of a text that is not PTX.
std::map<std::string, std::vector<std::string>> innermostLoops(std::string_view text,
                                                               const std::vector<std::string>& functions);

struct PassDescription {
  std::string_view name, summary;
  int level;                              // the lowest Options::level that runs it; above 2: only on request
  std::vector<std::string_view> aliases;  // names that it has in ptxas, cicc or LLVM
  bool declines = false;                  // whether Options::decline takes it
};
struct KnobDescription {
  std::string_view name, summary;
  int64_t defaultValue, least, most;
  std::string_view values;       // the names of the numbers from `least` on, "a|b|c"; empty: it is a number
  std::string_view defaultName;  // among these
  struct Alias {
    std::string_view name;
    bool isInverted;  // of an on/off knob: its 0 is the knob's 1
  };
  std::vector<Alias> aliases;
  bool isForTests = false;  // --list-test-knobs has it, not --list-knobs
};
struct OpcodeDescription {
  std::string_view name;      // base opcode and the modifiers that tell the row
  std::string_view operands;  // a letter an operand: d def, m read and written, u use, l label; then uses
  std::string effects;        // comma separated
  std::string_view summary;
};
std::vector<PassDescription> describePasses();
// A value of a knob as options have it: "always" for one that has a name, otherwise the number.
std::string knobValueText(std::string_view knob, int64_t value);
std::vector<KnobDescription> describeKnobs();
std::vector<OpcodeDescription> describeOpcodes();

// "0.1.0"
std::string_view version();

}  // namespace ptxopt
