// insert_copies: reads PTX, inserts copies that change nothing, and writes PTX.
//
//     insert_copies IN.ptx -o OUT.ptx [--mode definitions|uses|edges|parallel|mixed] [--density D] [--seed S]
//                   [--times N] [--types FORM,...] [--guarded] [--no-split] [--frame]
//     insert_copies IN.ptx --count
//
// One line of JSON on standard output says how much was inserted, or what there is: instructions, those of them
// that may be copies (moves of registers, packing and unpacking, cvta, conversions between integers), labels. The
// same seed gives the same text. Modules compiled for debugging are written as they are. Exit codes: 0 ok, 2 usage
// or I/O, 3 not PTX.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <variant>

#include "inserter.h"
#include "ir/verify.h"
#include "text/parse.h"
#include "text/print.h"

namespace {

const std::map<std::string, coalescing::Mode> kModes{{"definitions", coalescing::Mode::Definitions},
                                                     {"uses", coalescing::Mode::Uses},
                                                     {"edges", coalescing::Mode::Edges},
                                                     {"parallel", coalescing::Mode::Parallel},
                                                     {"mixed", coalescing::Mode::Mixed}};
const std::map<std::string, unsigned> kForms{
    {"mov", coalescing::kOtherMove},  {"declared", coalescing::kOtherDeclaration},
    {"cvt", coalescing::kConversion}, {"widen", coalescing::kWidening},
    {"pack", coalescing::kPacking},   {"halves", coalescing::kHalves},
    {"cvta", coalescing::kAddress},   {"all", coalescing::kAllForms}};

int fail(int status, const std::string& message) {
  fmt::print(stderr, "insert_copies: error: {}\n", message);
  return status;
}

// Whether an instruction does, or may do, no more than copy registers.
bool mayBeCopy(const ptxopt::Module& module, const ptxopt::Function& f, const ptxopt::Instruction& i) {
  const ptxopt::OpcodeForm& form = module.form(i);
  if (form.op != ptxopt::Op::Mov && form.op != ptxopt::Op::Cvt && form.op != ptxopt::Op::Cvta) return false;
  if (form.op == ptxopt::Op::Cvt) {
    const auto isInteger = [](ptxopt::ScalarType t) {
      return ptxopt::info(t).name.starts_with('u') || ptxopt::info(t).name.starts_with('s');
    };
    if (!isInteger(form.type) || !isInteger(form.sourceType)) return false;
  }
  for (const ptxopt::Operand& o : f.operandsOf(i))
    if (!o.isRegister() && o.kind != ptxopt::OperandKind::Vector && o.kind != ptxopt::OperandKind::Sink)
      return false;
  return true;
}

void count(const ptxopt::Module& module) {
  std::size_t instructions = 0, copies = 0, moves = 0, labels = 0;
  for (const ptxopt::Function& f : module.functions)
    for (const ptxopt::InstrId id : f) {
      labels += f[id].kind == ptxopt::InstrKind::Label;
      if (!f[id].isInstruction()) continue;
      ++instructions;
      if (!mayBeCopy(module, f, f[id])) continue;
      ++copies;
      const auto operands = f.operandsOf(f[id]);
      const bool plain =
          std::all_of(operands.begin(), operands.end(), [](const auto& o) { return o.isRegister(); });
      moves += plain && module.form(f[id]).op == ptxopt::Op::Mov;
    }
  fmt::print("{{\"instructions\": {}, \"copies\": {}, \"moves\": {}, \"labels\": {}}}\n", instructions, copies,
             moves, labels);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Inserts copies into PTX that change nothing.");
  coalescing::Options options;
  std::string input, output;
  std::vector<unsigned> forms;
  app.add_option("input", input, "the PTX file")->required();
  app.add_option("-o", output, "the file to write");
  bool countOnly = false;
  app.add_flag("--count", countOnly, "count instructions and copies; write nothing");
  app.add_option("--mode", options.mode, "where: definitions, uses, edges, parallel, mixed")
      ->transform(CLI::CheckedTransformer(kModes));
  app.add_option("--density", options.density, "the share of the places that get copies")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--seed", options.seed, "the same seed gives the same text");
  app.add_option("--times", options.times, "copies in a chain")->check(CLI::Range(1, 1000));
  app.add_option("--most", options.most, "registers at one place between blocks")->check(CLI::Range(1, 1 << 20));
  app.add_option("--types", forms, "copies in disguise: mov, declared, cvt, widen, pack, halves, cvta, all")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(kForms));
  app.add_flag("--guarded", options.guarded, "also copy what is defined under a guard");
  app.add_flag("--split,!--no-split", options.split, "make blocks on critical edges, or leave these edges out");
  app.add_flag("--frame", options.frame, "make the blocks and branches that the copies need, but no copies");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (output.empty() && !countOnly) return fail(2, "-o is missing");
  for (const unsigned form : forms) options.forms |= form;

  std::ifstream file(input, std::ios::binary);
  if (!file) return fail(2, "cannot read " + input);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto parsed = ptxopt::text::parse(text, input);
  if (const auto* error = std::get_if<ptxopt::text::ParseError>(&parsed))
    return fail(3, ptxopt::text::render(*error, input));
  ptxopt::Module& module = *std::get<0>(parsed);
  if (countOnly) return count(module), 0;
  coalescing::Counts counts;
  if (!module.isDebug && !module.hasModuleRegisters) {
    for (ptxopt::Function& f : module.functions) {
      if (!f.hasBody) continue;
      const coalescing::Counts added = coalescing::Inserter(module, f, options).run();
      counts.places += added.places;
      counts.copies += added.copies;
      counts.branches += added.branches;
      counts.labels += added.labels;
      ++options.seed;
    }
    if (const std::string problem = ptxopt::verify(module); !problem.empty()) return fail(2, problem);
  }
  std::ofstream out(output, std::ios::binary);
  out << ptxopt::text::print(module);
  if (!out.flush()) return fail(2, "cannot write " + output);
  fmt::print("{{\"places\": {}, \"copies\": {}, \"branches\": {}, \"labels\": {}}}\n", counts.places, counts.copies,
             counts.branches, counts.labels);
  return 0;
}
