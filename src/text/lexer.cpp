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
  using State = int16_t;
  static constexpr State kDead = -1, kUnknown = -2;
  static constexpr int16_t kNoToken = -1, kSkip = 0;

  explicit Automaton(Parts& parts)
      : LexerATNSimulator(&parts.lexer, parts.lexer.getATN(), parts.decisions, parts.cache), input_(&parts.input) {
    auto configs = computeStartState(input_, parts.lexer.getATN().modeToStartState[0]);
    configs->hasSemanticContext = false;
    number(addDFAState(configs.release()));
  }

  State step(State from, unsigned char byte) {
    const State to = next_[static_cast<std::size_t>(from) * 256 + byte];
    return to == kUnknown ? explore(from, byte) : to;
  }
  // The token type accepted in `state`, kSkip, or kNoToken.
  int16_t accepts(State state) const { return accepts_[static_cast<std::size_t>(state)]; }

 private:
  __attribute__((noinline)) State explore(State from, unsigned char byte) {
    antlr4::dfa::DFAState* target = computeTargetState(input_, states_[static_cast<std::size_t>(from)], byte);
    const State to = target == ERROR.get() ? kDead : number(target);
    next_[static_cast<std::size_t>(from) * 256 + byte] = to;
    return to;
  }

  State number(antlr4::dfa::DFAState* state) {
    const auto [it, isNew] = numbers_.emplace(state, static_cast<State>(states_.size()));
    if (!isNew) return it->second;
    states_.push_back(state);
    next_.resize(next_.size() + 256, kUnknown);
    int16_t type = kNoToken;
    if (state->isAcceptState) {
      type = static_cast<int16_t>(state->prediction);
      if (state->lexerActionExecutor)
        for (const auto& action : state->lexerActionExecutor->getLexerActions())
          if (action->getActionType() == antlr4::atn::LexerActionType::SKIP) type = kSkip;
    }
    accepts_.push_back(type);
    return it->second;
  }

  antlr4::CharStream* input_;
  std::vector<State> next_;
  std::vector<int16_t> accepts_;
  std::vector<antlr4::dfa::DFAState*> states_;
  std::unordered_map<antlr4::dfa::DFAState*, State> numbers_;
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
    Automaton::State state = 0;
    int16_t type = Automaton::kNoToken;
    const char* after = at_;
    for (const char* p = at_; p < end;) {
      state = automaton_.step(state, static_cast<unsigned char>(*p));
      if (state == Automaton::kDead) break;
      ++p;
      if (const int16_t t = automaton_.accepts(state); t != Automaton::kNoToken) {
        type = t;
        after = p;
      }
    }
    if (type == Automaton::kNoToken) type = PtxLexer::ERROR;
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
    token.type = static_cast<uint16_t>(type);
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
