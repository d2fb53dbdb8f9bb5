// Two printers over one instruction printer: one that keeps the source's text, one that does not look at its
// layout.
#include "text/print.h"

#include <optional>
#include <utility>

#include "support/parallel.h"
#include "text/canonical.h"
#include "text/instruction_printer.h"

namespace ptxopt::text {
namespace {

// ---- everything from the IR ----

void reprintBody(std::string& out, const Module& module, const Function& f, const MadeNames& made) {
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
    kept_ = i.sourceEnd;
    if (!i.is(Instruction::Changed)) return;  // its text goes with what follows
    copyTo(i.sourceBegin);
    printer_.print(i);
    at_ = i.sourceEnd;
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
    if (at_ < kept_) copyTo(kept_);
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
  uint32_t kept_ = 0;      // the end of the last instruction that stands where it stood
  uint32_t sourceId_ = 0;  // the next instruction of the source
};

// ---- bodies, those of a large module by several threads ----

class Bodies {
 public:
  Bodies(const Module& module, const PrintOptions& options) : module_(module), reprint_(options.reprint) {
    if (module.source.size() >= 2 * kAhead) threads_ = threadsFor(options.jobs);
  }

  bool keepsText(const Function& f) const { return !f.hasBody || (!reprint_ && !f.changed); }

  // The body of Module::functions[index], which does not keep its text; in the order of the functions.
  void append(std::string& out, std::size_t index) {
    if (!made_) made_.emplace(module_);
    if (threads_ == 1) return print(out, index);
    if (index >= begin_ + ahead_.size()) printAhead(index);
    out += std::exchange(ahead_[index - begin_], {});
  }

 private:
  static constexpr std::size_t kAhead = 1 << 18;  // bytes of the source, for each thread

  void print(std::string& out, std::size_t index) const {
    const Function& f = module_.functions[index];
    if (reprint_)
      reprintBody(out, module_, f, *made_);
    else
      PatchingPrinter(out, module_, f, *made_).print();
  }

  void printAhead(std::size_t index) {
    std::size_t end = index, bytes = 0;
    for (; end < module_.functions.size() && bytes < threads_ * kAhead; ++end)
      if (const Function& f = module_.functions[end]; !keepsText(f)) bytes += f.body.end - f.body.begin;
    begin_ = index;
    ahead_.assign(end - index, {});
    inParallel(threads_, ahead_.size(), [&](std::size_t i) {
      if (!keepsText(module_.functions[begin_ + i])) print(ahead_[i], begin_ + i);
    });
  }

  const Module& module_;
  const bool reprint_;
  unsigned threads_ = 1;
  std::optional<MadeNames> made_;
  std::size_t begin_ = 0;
  std::vector<std::string> ahead_;  // from begin_ on
};

void note(std::vector<FunctionPlace>* places, std::size_t function, FunctionPlace place) {
  if (places != nullptr) (*places)[function] = place;
}

std::string reprint(const Module& module, const PrintOptions& options) {
  std::string out;
  out.reserve(module.source.size() + module.source.size() / 16);
  Bodies bodies(module, options);
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
          appendCanonicalHeader(out, module.text(f.header));
          out += '\n';
          body = out.size();
          bodies.append(out, item.index);
        } else {
          appendCanonicalHeader(out, source);
          out += source.ends_with(';') ? "\n" : ";\n";
          body = out.size() - 1;
        }
        note(options.places, item.index, {begin, body, out.size() - 1});
        break;
      }
    }
  }
  return out;
}

std::string patch(const Module& module, const PrintOptions& options) {
  std::string out;
  out.reserve(module.source.size() + module.source.size() / 16);
  Bodies bodies(module, options);
  uint32_t at = 0;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const Function& f = module.functions[i];
    const std::size_t begin = out.size() + f.source.begin - at;
    const auto placeOf = [&](uint32_t offset) { return begin + offset - f.source.begin; };
    if (bodies.keepsText(f)) {
      const std::size_t end = placeOf(f.source.end);
      note(options.places, i, {begin, f.hasBody ? placeOf(f.body.begin) : end, end});
      continue;
    }
    out += module.source.substr(at, f.body.begin - at);
    bodies.append(out, i);
    note(options.places, i, {begin, placeOf(f.body.begin), out.size()});
    at = f.body.end;
  }
  out += module.source.substr(at);
  return out;
}

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  if (options.places != nullptr) options.places->assign(module.functions.size(), {});
  return options.reprint ? reprint(module, options) : patch(module, options);
}

std::string printFunction(const Module& module, const Function& function) {
  std::string out;
  appendCanonicalHeader(out, module.text(function.header));
  out += '\n';
  reprintBody(out, module, function, MadeNames(module));
  return out;
}

std::string printInstruction(const Module& module, const Function& function, const Instruction& instruction) {
  std::string out;
  const MadeNames made(module);
  InstructionPrinter(out, module, function, made).print(instruction);
  return out;
}

}  // namespace ptxopt::text
