// Two printers over one instruction printer: one that keeps the source's text, one that does not look at its
// layout.
#include "text/print.h"

#include <optional>

#include "text/canonical.h"
#include "text/instruction_printer.h"

namespace ptxopt::text {
namespace {

// ---- everything from the IR ----

// Where its body begins.
std::size_t reprintFunction(std::string& out, const Module& module, const Function& f, const MadeNames& made) {
  appendCanonicalHeader(out, module.text(f.header));
  out += '\n';
  const std::size_t body = out.size();
  out += '{';
  made.appendDeclarations(out, f);
  out += '\n';
  InstructionPrinter printer(out, module, f, made);
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (i.kind != InstrKind::Label) out += '\t';
    printer.print(i);
    out += '\n';
  }
  out += "}\n";
  return body;
}

void note(std::vector<FunctionPlace>* places, std::size_t function, FunctionPlace place) {
  if (places != nullptr) (*places)[function] = place;
}

std::string reprint(const Module& module, const MadeNames& made, std::vector<FunctionPlace>* places) {
  std::string out;
  out.reserve(module.source.size() + module.source.size() / 16);
  for (const Item& item : module.items) {
    const std::string_view source = module.text(item.source);
    switch (item.kind) {
      case ItemKind::Directive:
      case ItemKind::Declaration:
        // Lines mean something inside this one.
        if (source.starts_with(".nv_intermediate_source_section"))
          out += source;
        else
          appendCanonical(out, source);
        out += '\n';
        break;
      case ItemKind::Section:
        appendCanonicalSection(out, source);
        out += '\n';
        break;
      case ItemKind::Function: {
        const std::size_t begin = out.size();
        std::size_t body = 0;
        if (const Function& f = module.functions[item.index]; f.hasBody) {
          body = reprintFunction(out, module, f, made);
        } else {
          appendCanonicalHeader(out, source);
          out += source.ends_with(';') ? "\n" : ";\n";
          body = out.size() - 1;
        }
        note(places, item.index, {begin, body, out.size() - 1});
        break;
      }
    }
  }
  return out;
}

// ---- the source's text where nothing changed ----

class PatchingPrinter {
 public:
  PatchingPrinter(std::string& out, const Module& module, const Function& f, const MadeNames& made)
      : out_(out), source_(module.source), f_(f), made_(made), printer_(out, module, f, made) {}

  void print() {
    at_ = f_.body.begin;
    copyTo(f_.body.begin + 1);
    made_.appendDeclarations(out_, f_);
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      if (i.hasSource() && !i.is(Instruction::Moved))
        inPlace(id, i);
      else
        elsewhere(i);
    }
    for (; sourceId_ < f_.sourceInstructions; ++sourceId_) drop(f_.instructions[sourceId_]);
    copyTo(f_.body.end);
  }

 private:
  void copyTo(uint32_t end) {
    out_ += source_.substr(at_, end - at_);
    at_ = end;
  }

  void inPlace(InstrId id, const Instruction& i) {
    for (; sourceId_ < id.value; ++sourceId_) drop(f_.instructions[sourceId_]);
    ++sourceId_;
    copyTo(i.sourceBegin);
    if (i.is(Instruction::Changed)) {
      printer_.print(i);
      at_ = i.sourceEnd;
    } else {
      copyTo(i.sourceEnd);
    }
  }

  // Leaves out the text of an erased or moved instruction, and its line with it when nothing else stands there.
  void drop(const Instruction& i) {
    copyTo(i.sourceBegin);
    at_ = i.sourceEnd;
    const std::size_t lineStart = out_.find_last_not_of(" \t");
    const std::size_t next = source_.find_first_not_of(" \t\r", at_);
    if (lineStart == std::string::npos || out_[lineStart] != '\n' || next == std::string_view::npos ||
        source_[next] != '\n')
      return;
    out_.resize(lineStart + 1);
    at_ = static_cast<uint32_t>(next + 1);
  }

  // A made or moved instruction: on a line of its own, after what follows the one before on its line.
  void elsewhere(const Instruction& i) {
    finishLine();
    out_ += i.kind == InstrKind::Label ? "\n" : "\n\t";
    printer_.print(i);
  }

  // Copies blanks and a comment up to the end of the line, if nothing else is there.
  void finishLine() {
    std::size_t p = source_.find_first_not_of(" \t\r", at_);
    if (p == std::string_view::npos) return;
    if (source_.substr(p).starts_with("//")) p = std::min(source_.find('\n', p), source_.size());
    if (p < source_.size() && source_[p] == '\n' && p <= f_.body.end) copyTo(static_cast<uint32_t>(p));
  }

  std::string& out_;
  std::string_view source_;
  const Function& f_;
  const MadeNames& made_;
  InstructionPrinter printer_;
  uint32_t at_ = 0;        // the source is copied or left out up to here
  uint32_t sourceId_ = 0;  // the next instruction of the source
};

std::string patch(const Module& module, std::vector<FunctionPlace>* places) {
  std::string out;
  out.reserve(module.source.size() + module.source.size() / 16);
  std::optional<MadeNames> made;
  uint32_t at = 0;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const Function& f = module.functions[i];
    const std::size_t begin = out.size() + f.source.begin - at;
    const auto placeOf = [&](uint32_t offset) { return begin + offset - f.source.begin; };
    if (!f.hasBody || !f.changed) {
      const std::size_t end = placeOf(f.source.end);
      note(places, i, {begin, f.hasBody ? placeOf(f.body.begin) : end, end});
      continue;
    }
    if (!made) made.emplace(module);
    out += module.source.substr(at, f.body.begin - at);
    PatchingPrinter(out, module, f, *made).print();
    note(places, i, {begin, placeOf(f.body.begin), out.size()});
    at = f.body.end;
  }
  out += module.source.substr(at);
  return out;
}

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  if (options.places != nullptr) options.places->assign(module.functions.size(), {});
  return options.reprint ? reprint(module, MadeNames(module), options.places) : patch(module, options.places);
}

std::string printFunction(const Module& module, const Function& function) {
  std::string out;
  reprintFunction(out, module, function, MadeNames(module));
  return out;
}

std::string printInstruction(const Module& module, const Function& function, const Instruction& instruction) {
  std::string out;
  const MadeNames made(module);
  InstructionPrinter(out, module, function, made).print(instruction);
  return out;
}

}  // namespace ptxopt::text
