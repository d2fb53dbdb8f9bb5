#include "text/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <vector>

#include "PtxLexer.h"

namespace ptxopt::text {
namespace {

using grammar::PtxLexer;

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

}  // namespace

// The dense table over the states of ANTLR's lexer automaton.
class Automaton final : public antlr4::atn::LexerATNSimulator {
 public:
  // What follows from a state and a byte.
  struct Step {
    uint16_t state = kUnknown;
    uint16_t type = 0;  // the token type accepted there, kSkip, or 0
  };
  static constexpr uint16_t kDead = 0xffff, kUnknown = 0xfffe, kSkip = 0xffff;

  explicit Automaton(Parts& parts)
      : LexerATNSimulator(&parts.lexer, parts.lexer.getATN(), parts.decisions, parts.cache), input_(&parts.input) {
    auto configs = computeStartState(input_, parts.lexer.getATN().modeToStartState[0]);
    configs->hasSemanticContext = false;
    number(addDFAState(configs.release()));
  }

  // A row of 256 steps for each state; `explore` may move it.
  const Step* table() const { return steps_.data(); }

  // Asks ANTLR for a step that the table does not have yet.
  __attribute__((noinline)) Step explore(uint16_t from, unsigned char byte) {
    antlr4::dfa::DFAState* target = computeTargetState(input_, states_[from], byte);
    const Step step = target == ERROR.get() ? Step{kDead, 0} : number(target);
    steps_[std::size_t{from} * 256 + byte] = step;
    return step;
  }

 private:
  Step number(antlr4::dfa::DFAState* state) {
    const auto [it, isNew] = numbers_.emplace(state, Step{static_cast<uint16_t>(states_.size()), 0});
    if (!isNew) return it->second;
    states_.push_back(state);
    steps_.resize(steps_.size() + 256);
    if (state->isAcceptState) {
      it->second.type = static_cast<uint16_t>(state->prediction);
      if (state->lexerActionExecutor)
        for (const auto& action : state->lexerActionExecutor->getLexerActions())
          if (action->getActionType() == antlr4::atn::LexerActionType::SKIP) it->second.type = kSkip;
    }
    return it->second;
  }

  antlr4::CharStream* input_;
  std::vector<Step> steps_;
  std::vector<antlr4::dfa::DFAState*> states_;
  std::unordered_map<antlr4::dfa::DFAState*, Step> numbers_;
};

namespace {

Automaton& threadAutomaton() {
  thread_local Parts parts;
  thread_local Automaton automaton(parts);
  return automaton;
}

}  // namespace

Lexer::Lexer(std::string_view source) : automaton_(threadAutomaton()), source_(source), at_(source.data()) {}

void Lexer::next(Token& token) {
  const char* const end = source_.data() + source_.size();
  while (at_ < end) {
    uint16_t state = 0, type = 0;
    const char* after = at_;
    const Automaton::Step* table = automaton_.table();
    for (const char* p = at_; p < end;) {
      const auto byte = static_cast<unsigned char>(*p);
      Automaton::Step step = table[std::size_t{state} * 256 + byte];
      if (step.state >= Automaton::kUnknown) {
        if (step.state == Automaton::kDead) break;
        step = automaton_.explore(state, byte);
        table = automaton_.table();
        if (step.state == Automaton::kDead) break;
      }
      ++p;
      if (step.state == state) {
        // Inside a name, a number or blanks the state stays: a loop without a chain of loads, several times as
        // fast.
        const Automaton::Step* const row = table + std::size_t{state} * 256;
        while (p < end && row[static_cast<unsigned char>(*p)].state == state) ++p;
      }
      state = step.state;
      if (step.type != 0) {
        type = step.type;
        after = p;
      }
    }
    if (type == 0) type = PtxLexer::ERROR;
    const char* const begin = at_;
    at_ = std::max(after, begin + 1);
    if (type == Automaton::kSkip) continue;
    if (type == PtxLexer::LINE_MARK) {  // a comment where it begins a line, else nothing that PTX knows
      const char* p = begin;
      while (p > source_.data() && (p[-1] == ' ' || p[-1] == '\t')) --p;
      if (p == source_.data() || p[-1] == '\n') continue;
      type = PtxLexer::ERROR;
    }
    if (type == PtxLexer::FLOAT && after[-1] == '.' && after < end &&
        (std::isalpha(static_cast<unsigned char>(*after)) || *after == '_')) {  // `.align 4.b8` is 4 and .b8
      --at_;
      type = PtxLexer::INT;
    }
    token.begin = begin;
    token.length = static_cast<uint32_t>(at_ - begin);
    token.type = type;
    return;
  }
  token.begin = end;
  token.length = 0;
  token.type = Token::kEnd;
}

std::string describeError(const Token& token, std::string_view source) {
  const std::string_view rest = source.substr(static_cast<std::size_t>(token.begin - source.data()));
  if (rest.starts_with("/*")) return "unterminated comment";
  if (rest.starts_with('"')) return "unterminated string";
  const auto byte = static_cast<unsigned char>(rest.front());
  return byte > 0x20 && byte < 0x7f ? fmt::format("unexpected '{}'", static_cast<char>(byte))
                                    : fmt::format("unexpected byte 0x{:02x}", byte);
}

}  // namespace ptxopt::text
