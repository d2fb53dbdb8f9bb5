// Writes the automaton of the lexer as a table: `make_lexer_table FILE`, at build time.
//
// ANTLR's simulator works out the states of the deterministic automaton one by one, from the network of the
// grammar; here it does so for every state and every byte. Without predicates, modes and recursion in the grammar
// the states are finitely many, and the table is the whole lexer.
#include <antlr4-runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <unordered_map>
#include <vector>

#include "PtxLexer.h"

namespace {

using ptxopt::text::grammar::PtxLexer;

// ANTLR's simulator wants a stream; it never reads from it here.
class NoInput final : public antlr4::CharStream {
 public:
  void consume() override {}
  std::size_t LA(ssize_t) override { return IntStream::EOF; }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return 0; }
  void seek(std::size_t) override {}
  std::size_t size() override { return 0; }
  std::string getSourceName() const override { return "ptx"; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string toString() const override { return {}; }
};

// What the automaton leans on; in this order, since each refers to those before.
struct Parts {
  NoInput input;
  PtxLexer lexer{&input};
  std::vector<antlr4::dfa::DFA> decisions;
  antlr4::atn::PredictionContextCache cache;

  Parts() {
    const antlr4::atn::ATN& atn = lexer.getATN();
    for (std::size_t i = 0; i < atn.getNumberOfDecisions(); ++i) decisions.emplace_back(atn.getDecisionState(i), i);
  }
};

constexpr std::size_t kBytes = 256, kMostStates = 4096;

class Explorer final : public antlr4::atn::LexerATNSimulator {
 public:
  explicit Explorer(Parts& parts)
      : LexerATNSimulator(&parts.lexer, parts.lexer.getATN(), parts.decisions, parts.cache), input_(&parts.input) {
    number(nullptr);  // the dead state, from which nothing leads
    auto configs = computeStartState(input_, parts.lexer.getATN().modeToStartState[0]);
    configs->hasSemanticContext = false;
    number(addDFAState(configs.release()));
  }

  // False when the states do not end.
  bool explore() {
    for (std::size_t from = 0; from < states_.size() && from < kMostStates; ++from)
      for (std::size_t byte = 0; byte < kBytes; ++byte) {
        antlr4::dfa::DFAState* target = nullptr;
        if (states_[from] != nullptr) target = computeTargetState(input_, states_[from], byte);
        steps_.push_back(target == ERROR.get() ? 0 : number(target));
      }
    return states_.size() <= kMostStates;
  }

  // Joins the states that no text tells apart (Moore): a name of any length is one state then, which the lexer runs
  // through in a loop, and the table fits a cache. Classes are numbered by their first states: the dead one and the
  // start keep their numbers.
  void minimize() {
    std::vector<std::size_t> classOf = classesBy([&](std::size_t s) { return accepted(states_[s]); });
    for (std::size_t before = 0;;) {
      const std::size_t classes = *std::max_element(classOf.begin(), classOf.end()) + 1;
      if (classes == before) break;
      before = classes;
      classOf = classesBy([&](std::size_t s) {
        std::vector<std::size_t> row{classOf[s]};
        for (std::size_t byte = 0; byte < kBytes; ++byte) row.push_back(classOf[steps_[s * kBytes + byte]]);
        return row;
      });
    }
    std::vector<antlr4::dfa::DFAState*> states;
    std::vector<std::size_t> steps;
    for (std::size_t s = 0; s < states_.size(); ++s) {
      if (classOf[s] != states.size()) continue;
      states.push_back(states_[s]);
      for (std::size_t byte = 0; byte < kBytes; ++byte) steps.push_back(classOf[steps_[s * kBytes + byte]]);
    }
    states_ = std::move(states);
    steps_ = std::move(steps);
  }

  void write(std::ostream& out) const {
    out << "// Made of grammar/PtxLexer.g4 by make_lexer_table.\n"
        << "inline constexpr std::size_t kStates = " << states_.size() << ";\n"
        << "// What a state accepts: a type of token, kSkip, or 0.\n"
        << "inline constexpr uint16_t kAccepts[kStates] = {";
    for (std::size_t s = 0; s < states_.size(); ++s)
      out << (s % 16 == 0 ? "\n  " : " ") << accepted(states_[s]) << ',';
    out << "\n};\n// The state that follows a state and a byte; 0: none.\n"
        << "inline constexpr " << (states_.size() <= 256 ? "uint8_t" : "uint16_t") << " kSteps[kStates][256] = {";
    for (std::size_t i = 0; i < steps_.size(); ++i)
      out << (i % kBytes == 0 ? "\n  {" : "") << steps_[i]
          << (i % kBytes == kBytes - 1 ? "},"
              : i % 32 == 31           ? ",\n   "
                                       : ",");
    out << "\n};\n";
  }

 private:
  // Numbers in the order of the first state with each key.
  template <typename KeyOf>
  std::vector<std::size_t> classesBy(KeyOf keyOf) const {
    std::map<decltype(keyOf(0)), std::size_t> known;
    std::vector<std::size_t> classOf;
    for (std::size_t s = 0; s < states_.size(); ++s)
      classOf.push_back(known.emplace(keyOf(s), known.size()).first->second);
    return classOf;
  }

  static std::string accepted(const antlr4::dfa::DFAState* state) {
    if (state == nullptr || !state->isAcceptState) return "0";
    if (state->lexerActionExecutor)
      for (const auto& action : state->lexerActionExecutor->getLexerActions())
        if (action->getActionType() == antlr4::atn::LexerActionType::SKIP) return "kSkip";
    return std::to_string(state->prediction);
  }

  std::size_t number(antlr4::dfa::DFAState* state) {
    const auto [it, isNew] = numbers_.emplace(state, states_.size());
    if (isNew) states_.push_back(state);
    return it->second;
  }

  antlr4::CharStream* input_;
  std::vector<std::size_t> steps_;
  std::vector<antlr4::dfa::DFAState*> states_;
  std::unordered_map<antlr4::dfa::DFAState*, std::size_t> numbers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_lexer_table FILE\n";
    return 2;
  }
  Parts parts;
  Explorer explorer(parts);
  if (!explorer.explore()) {
    std::cerr << "make_lexer_table: more than " << kMostStates << " states\n";
    return 1;
  }
  explorer.minimize();
  std::ofstream out(argv[1]);
  explorer.write(out);
  out.close();
  if (out) return 0;
  std::cerr << "make_lexer_table: cannot write " << argv[1] << '\n';
  return 2;
}
