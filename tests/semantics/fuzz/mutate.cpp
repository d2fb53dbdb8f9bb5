#include "mutate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace fuzz {
namespace {

enum class Kind : uint8_t { Register, Word, Directive, Number, String, Blank, Mark };

// A token, or the blanks and comments between two.
struct Piece {
  Kind kind;
  std::string text;
};
using Pieces = std::vector<Piece>;

// Half open, in pieces: up to and with a `;`, `{`, `}` or a label's `:`.
struct Statement {
  std::size_t begin, end;
};

bool isNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Cuts the text in pieces. Not a model of ptxopt's lexer: every byte lands in some piece, whatever it is.
Pieces split(std::string_view text) {
  Pieces pieces;
  const auto until = [&](std::size_t from, std::string_view end) {
    const std::size_t at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  const auto name = [&](std::size_t at) {
    while (at < text.size() && isNameByte(text[at])) ++at;
    return at;
  };
  for (std::size_t at = 0, end; at < text.size(); at = end) {
    const char c = text[at];
    Kind kind = Kind::Mark;
    end = at + 1;
    if (isBlank(c)) {
      kind = Kind::Blank;
      while (end < text.size() && isBlank(text[end])) ++end;
    } else if (text.substr(at).starts_with("//")) {
      kind = Kind::Blank;
      end = until(at, "\n");
    } else if (text.substr(at).starts_with("/*")) {
      kind = Kind::Blank;
      end = until(at + 2, "*/");
    } else if (c == '"') {
      kind = Kind::String;
      end = until(at + 1, "\"");
    } else if (c == '%') {
      kind = Kind::Register;
      end = name(end);
    } else if (c == '.') {
      kind = Kind::Directive;
      end = name(end);
      while (text.substr(end).starts_with("::")) end = name(end + 2);
    } else if (isNameByte(c)) {
      kind = isDigit(c) ? Kind::Number : Kind::Word;
      end = name(end);
    }
    pieces.push_back({kind, std::string(text.substr(at, end - at))});
  }
  return pieces;
}

std::string join(const Pieces& pieces) {
  std::string text;
  for (const Piece& p : pieces) text += p.text;
  return text;
}

std::vector<Statement> statementsOf(const Pieces& pieces) {
  std::vector<Statement> all;
  std::size_t begin = 0;
  int brackets = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind != Kind::Mark) continue;
    const char c = pieces[i].text[0];
    if (c == '(' || c == '[') ++brackets;
    if (c == ')' || c == ']') --brackets;
    const bool ends = c == ';' || c == '{' || c == '}' || (c == ':' && brackets == 0);
    if (!ends) continue;
    all.push_back({begin, i + 1});
    begin = i + 1;
    if (c == ';') brackets = 0;
  }
  return all;
}

constexpr std::array kDirectives = {
    ".s8",      ".u8",     ".b8",       ".s16",     ".u16",    ".b16",     ".s32",         ".u32",
    ".b32",     ".s64",    ".u64",      ".b64",     ".b128",   ".f16",     ".f16x2",       ".bf16",
    ".f32",     ".f64",    ".pred",     ".v2",      ".v4",     ".global",  ".local",       ".shared",
    ".const",   ".param",  ".reg",      ".cc",      ".wide",   ".lo",      ".hi",          ".sat",
    ".rn",      ".rz",     ".ftz",      ".approx",  ".eq",     ".lt",      ".ge",          ".sync",
    ".aligned", ".uni",    ".volatile", ".relaxed", ".gpu",    ".cta",     ".acquire",     ".release",
    ".nc",      ".ca",     ".align",    ".visible", ".extern", ".weak",    ".noreturn",    ".idx",
    ".bfly",    ".ballot", ".x",        ".y",       ".b0",     ".unified", ".shared::cta", ".L2::cache_hint",
    ".ptr"};

constexpr std::array kNumbers = {"0",
                                 "1",
                                 "-1",
                                 "2",
                                 "7",
                                 "16",
                                 "31",
                                 "32",
                                 "255",
                                 "4095",
                                 "2147483647",
                                 "2147483648",
                                 "4294967295",
                                 "0x0",
                                 "0x7fffffff",
                                 "0b1",
                                 "017",
                                 "0f3F800000",
                                 "1.5",
                                 "1e9",
                                 "0xffffffffffffffff",
                                 "18446744073709551616",
                                 "3U"};

constexpr std::array kWords = {"L0", "L1", "WARP_SZ", "_", "abs", "x", "$L", "debug", "sm_90a", "buffer"};

constexpr std::array kRegisters = {"%r0",    "%r1",    "%r2",     "%r3",          "%r07",    "%rd0", "%rd1",
                                   "%p0",    "%p1",    "%f0",     "%fd0",         "%rs0",    "%q0",  "%v.x",
                                   "%tid.x", "%clock", "%laneid", "%r4294967294", "%p0|%p1", "!%p1", "-%f1"};

// Statements that go into any body that declares the usual registers; the first line declares them.
constexpr std::array kStatements = {
    "\n\t.reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<8>;",
    "\n\tadd.s32 %r1, %r2, %r3;",
    "\n\t@%p1 mov.b32 %r2, %r1;",
    "\n\t@!%p2 bra L0;",
    "\nL0:",
    "\nL1:",
    "\n\tbra.uni L1;",
    "\n\tsetp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;",
    "\n\tmov.b64 {%r1, %r2}, %rd1;",
    "\n\tmov.b64 %rd1, {%r1, _};",
    "\n\tadd.cc.u32 %r1, %r2, 1;",
    "\n\taddc.cc.u32 %r2, %r2, 0;",
    "\n\tsubc.u32 %r3, %r3, %r1;",
    "\n\tld.global.v4.b32 {%r0, %r1, _, %r3}, [%rd1+-16];",
    "\n\tst.shared.b32 [%r1], %r2;",
    "\n\tatom.global.add.u32 %r1, [%rd1], 1;",
    "\n\tshfl.sync.idx.b32 %r1|%p1, %r1, %r2, 31, -1;",
    "\n\tbar.sync 0;",
    "\n\tcvt.s64.s32 %rd1, %r1;",
    "\n\tmad.wide.s32 %rd2, %r1, 4, %rd1;",
    "\n\tfma.rn.f32 %f1, %f2, 0f3F800000, %f1;",
    "\n\t{ .reg .b32 %r<2>; .reg .pred p; setp.ne.u32 p, %r1, 0; @p mov.u32 %r0, %r1; }",
    "\n\t.reg .v4 .b32 %v; mov.b32 %v.x, %r1; mov.b32 %r2, %v.y;",
    "\n\tts: .branchtargets L0, L1;\n\tbrx.idx %r1, ts;",
    "\n\t.pragma \"nounroll\";",
    "\n\t.loc 1 10 3",
    "\n\t.shared .align 16 .b8 buffer[64];",
    "\n\tmov.u32 %r1, buffer+4;",
    "\n\tret;",
    "\n\t@%p1 exit;",
    "\n\tunknown.op.b32 %r1, %r2, [%rd1], {%r3, %r4};",
    "\n}\n.func (.reg .b32 out) g(.param .b32 in)\n{\n\tmov.u32 out, 1;",
    "\n}\n.visible .entry k2(.param .u64 k2_p0)\n{\n\tret;",
    "\n\t{ .param .b32 a0; st.param.b32 [a0], %r1; call.uni (%r2), g, (a0); }",
    "\n}\n.global .align 4 .b8 table[8] = {1, 2, 0xFF(table), -4};\n.visible .entry k3()\n{"};

class Mutator {
 public:
  Mutator(std::string_view text, unsigned seed) : random_(seed), pieces_(split(text)) {}

  std::string run() {
    for (unsigned n = 1 + below(4); n != 0; --n) step();
    return join(pieces_);
  }

  void splice(std::string_view other) {
    const Pieces donor = split(other);
    const std::vector<Statement> from = statementsOf(donor);
    if (from.empty()) return;
    const std::size_t first = below(from.size()), last = std::min(from.size() - 1, first + below(6));
    insert(aStatementEnd(), donor.begin() + static_cast<std::ptrdiff_t>(from[first].begin),
           donor.begin() + static_cast<std::ptrdiff_t>(from[last].end));
  }

  std::string text() const { return join(pieces_); }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void step() {
    switch (below(16)) {
      case 0: duplicateStatements(); break;
      case 1: deleteStatements(); break;
      case 2: swapStatements(); break;
      case 3: nestStatements(); break;
      case 4:
      case 5:
      case 6: insertText(aStatementEnd(), kStatements[below(kStatements.size())]); break;
      case 7:
      case 8: replaceRegister(); break;
      case 9: replace(Kind::Word, kWords); break;
      case 10: replace(Kind::Directive, kDirectives); break;
      case 11: replace(Kind::Number, kNumbers); break;
      case 12: dropOrRepeatPiece(); break;
      case 13: wrapOperand(); break;
      case 14: toggleGuard(); break;
      case 15: changeBlank(); break;
    }
  }

  template <typename Iterator>
  void insert(std::size_t at, Iterator begin, Iterator end) {
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(at), begin, end);
  }
  void insertText(std::size_t at, std::string_view text) {
    const Pieces more = split(text);
    insert(at, more.begin(), more.end());
  }

  std::size_t aStatementEnd() {
    const auto all = statementsOf(pieces_);
    return all.empty() ? pieces_.size() : all[below(all.size())].end;
  }

  // A run of one to six statements.
  Statement aRun() {
    const auto all = statementsOf(pieces_);
    if (all.empty()) return {0, 0};
    const std::size_t first = below(all.size()), last = std::min(all.size() - 1, first + below(6));
    return {all[first].begin, all[last].end};
  }

  Pieces copyOf(Statement s) {
    return {pieces_.begin() + static_cast<std::ptrdiff_t>(s.begin),
            pieces_.begin() + static_cast<std::ptrdiff_t>(s.end)};
  }

  void duplicateStatements() {
    const Pieces run = copyOf(aRun());
    const std::size_t at = aStatementEnd();
    for (std::size_t n = below(8) == 0 ? below(20) : 1; n != 0; --n) insert(at, run.begin(), run.end());
  }

  void deleteStatements() {
    const Statement s = aRun();
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(s.begin),
                  pieces_.begin() + static_cast<std::ptrdiff_t>(s.end));
  }

  void swapStatements() {
    const auto all = statementsOf(pieces_);
    if (all.size() < 2) return;
    const std::size_t i = below(all.size() - 1);
    const auto at = [&](std::size_t p) { return pieces_.begin() + static_cast<std::ptrdiff_t>(p); };
    std::rotate(at(all[i].begin), at(all[i].end), at(all[i + 1].end));
  }

  void nestStatements() {
    const Statement s = aRun();
    const std::size_t depth = below(16) == 0 ? 1 + below(300) : 1;
    std::string open, close;
    for (std::size_t i = 0; i < depth; ++i) {
      open += "\n\t{";
      close += " }";
    }
    insertText(s.end, close);
    insertText(s.begin, open);
  }

  std::vector<std::size_t> all(Kind kind) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i].kind == kind) places.push_back(i);
    return places;
  }

  // Mostly by another of the text itself, sometimes by one of the table.
  template <typename Table>
  void replace(Kind kind, const Table& table) {
    const auto places = all(kind);
    if (places.empty()) return;
    Piece& piece = pieces_[places[below(places.size())]];
    piece.text =
        below(3) == 0 ? std::string(table[below(table.size())]) : pieces_[places[below(places.size())]].text;
  }

  void replaceRegister() {
    if (below(4) != 0) return replace(Kind::Register, kRegisters);
    // Every occurrence of one by another.
    const auto places = all(Kind::Register);
    if (places.empty()) return;
    const std::string from = pieces_[places[below(places.size())]].text,
                      to = pieces_[places[below(places.size())]].text;
    for (const std::size_t p : places)
      if (pieces_[p].text == from) pieces_[p].text = to;
  }

  void dropOrRepeatPiece() {
    if (pieces_.empty()) return;
    const std::size_t at = below(pieces_.size());
    if (below(2) == 0) {
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      const Piece piece = pieces_[at];
      const std::size_t times = below(16) == 0 ? below(400) : 1;
      pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(at), times, piece);
    }
  }

  void wrapOperand() {
    const auto places = all(below(2) == 0 ? Kind::Register : Kind::Number);
    if (places.empty()) return;
    static constexpr std::array<std::array<const char*, 2>, 8> kWraps = {
        {{"[", "]"}, {"{", "}"}, {"(", ")"}, {"(.u32)", ""}, {"", "+4"}, {"", "-1"}, {"", "|%p1"}, {"", ", _"}}};
    const auto& wrap = kWraps[below(kWraps.size())];
    std::string open, close;
    for (std::size_t n = below(16) == 0 ? below(300) : 1; n != 0; --n) {
      open += wrap[0];
      close += wrap[1];
    }
    const std::size_t at = places[below(places.size())];
    insertText(at + 1, close);
    insertText(at, open);
  }

  void toggleGuard() {
    const auto statements = statementsOf(pieces_);
    if (statements.empty()) return;
    const Statement s = statements[below(statements.size())];
    std::size_t at = s.begin;
    while (at < s.end && pieces_[at].kind == Kind::Blank) ++at;
    if (pieces_[at].text == "@")
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at),
                    pieces_.begin() + static_cast<std::ptrdiff_t>(std::min(at + 3, s.end)));
    else
      insertText(at, below(2) == 0 ? "@%p1 " : "@!%p2 ");
  }

  void changeBlank() {
    static constexpr std::array kBlanks = {" ", "\n", "\r\n", "\t", " /* c */ ", " // c\n", "\n# 1 \"f\"\n", ""};
    const auto places = all(Kind::Blank);
    if (places.empty()) return;
    pieces_[places[below(places.size())]].text = kBlanks[below(kBlanks.size())];
  }

  std::mt19937 random_;
  Pieces pieces_;
};

}  // namespace

std::string mutate(std::string_view text, unsigned seed) { return Mutator(text, seed).run(); }

std::string crossOver(std::string_view left, std::string_view right, unsigned seed) {
  Mutator mutator(left, seed);
  mutator.splice(right);
  return mutator.text();
}

std::size_t store(const std::string& text, uint8_t* out, std::size_t most) {
  const std::size_t size = std::min(text.size(), most);
  if (size != 0) std::memcpy(out, text.data(), size);
  return size;
}

}  // namespace fuzz
