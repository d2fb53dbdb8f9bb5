// Random functions as PTX text, with a note of what each statement does.
//
// The note is made beside the text and never looks at the IR, so that a test can compare what an analysis says of
// the parsed function with a reference that follows paths over the notes. Each statement of the text, labels,
// declarations and braces included, is one instruction of the parsed function, in order.
//
// The functions have what is hard for an analysis: loops that are entered at several blocks, blocks that nothing
// reaches, guards on everything, `brx.idx`, returns in the middle and at the end of the text, registers that are
// read before they are written, scopes that hide a register by one of the same name, carry, pairs, vectors and
// lanes, results that feed only themselves. They are not meant to run. The module has two functions: the one to
// look at is the second.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace ptxopt::testing {

struct RandomOptions {
  std::size_t mostBlocks = 7;
  std::size_t mostStatements = 5;  // a block, without the branch
  std::size_t guardPercent = 25;
  std::size_t branchPercent = 67;  // blocks that end in a branch, return, call and the like
  std::size_t scopePercent = 20;   // blocks that begin a scope with registers of its own
  std::size_t copyPercent = 0;     // statements that are copies, one or several
  bool startsDefined = false;      // all registers are written at the start
  bool hidesParameters = false;    // scopes have their own %r0 and %o
};

// Registers go by their spelling; the n-th of one spelling in the order of the text, n > 1, is `%s#n`. The carry
// flag is `carry`.
struct RandomStatement {
  std::string text;
  std::set<std::string> reads = {}, writes = {}, mods = {};  // mods: written in part; also in reads
  bool removable = false;
  std::vector<std::size_t> labels = {};  // goes to these
  bool falls = true;
  std::string guard = {};           // "@%p1" or "@!%p1"
  std::set<std::string> uses = {};  // of reads, those whose value goes into a result: not what is kept of a mod
  bool isMove = false;              // gives one register what another one, or a constant, is
};

class RandomFunction {
 public:
  explicit RandomFunction(uint64_t seed, const RandomOptions& options = {}) : random_(seed), options_(options) {
    make();
  }

  std::vector<RandomStatement> statements;
  std::string text;

  // Statements where control may be next; statements.size() is the end of the text, which returns.
  std::vector<std::size_t> successors(std::size_t i) const {
    std::vector<std::size_t> result;
    for (const std::size_t label : statements[i].labels) result.push_back(places_[label]);
    if (statements[i].falls) result.push_back(i + 1);
    return result;
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  bool percent(std::size_t n) { return pick(100) < n; }
  std::string here(std::string name) const { return hidden_.count(name) != 0 ? name + hiddenSuffix_ : name; }
  static std::string spelled(const std::string& name) { return name.substr(0, name.find('#')); }
  std::string b32() {
    static const char* const kNames[] = {"%r0", "%s", "%t0", "%t1", "%o"};
    return here(kNames[pick(5)]);
  }
  std::string pred() { return here("%p" + std::to_string(pick(3))); }
  std::string b64() { return "%rd" + std::to_string(pick(3)); }

  void add(RandomStatement s, bool guardable = true) {
    std::string plain;  // spelled as the text does
    for (std::size_t k = 0; k < s.text.size(); ++k) {
      if (s.text[k] == '#')
        while (k + 1 < s.text.size() && s.text[k + 1] >= '0' && s.text[k + 1] <= '9') ++k;
      else
        plain += s.text[k];
    }
    s.text = plain;
    s.uses = s.reads;
    for (const std::string& m : s.mods)
      if (m != "carry") s.uses.erase(m);
    if (guardable && percent(options_.guardPercent)) {
      const std::string p = pred();
      s.guard = (pick(2) ? "@" : "@!") + p;
      s.text = spelled(s.guard) + " " + s.text;
      s.reads.insert(p);
      s.uses.insert(p);
      for (const std::string& w : s.writes) s.mods.insert(w), s.reads.insert(w);
      s.writes.clear();
      s.falls = true;
    }
    statements.push_back(std::move(s));
  }
  void addPlain(std::string line, std::string writes = {}, std::string reads = {}) {
    RandomStatement s{.text = std::move(line)};
    if (!writes.empty()) s.writes.insert(std::move(writes));
    if (!reads.empty()) s.reads.insert(std::move(reads));
    add(std::move(s), false);
  }

  void make() {
    const std::size_t blocks = 1 + pick(options_.mostBlocks);
    planScopes(blocks);
    addPlain(".reg .b32 %s, %t<2>;");
    addPlain(".reg .pred %p0, %p1, %p2;");
    addPlain(".reg .b64 %rd<3>;");
    addPlain(".reg .v2 .b32 %v;");
    if (options_.startsDefined) addDefinitions();
    std::vector<std::size_t> outside;
    for (std::size_t b = 0; b < blocks; ++b)
      if (scopeOf_[b] == 0) outside.push_back(b);
    std::string list;
    for (std::size_t k = 0; k < 2 && !outside.empty(); ++k) {
      targets_.push_back(outside[pick(outside.size())]);
      list += (k == 0 ? "L" : ", L") + std::to_string(targets_.back());
    }
    if (!targets_.empty()) {
      addPlain("T:");
      addPlain(".branchtargets " + list + ";");
    }
    std::size_t scope = 0, scopes = 1;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (scope != scopeOf_[b] && scope != 0) closeScope();
      if (scope != scopeOf_[b] && scopeOf_[b] != 0) openScope(++scopes);
      scope = scopeOf_[b];
      addPlain("L" + std::to_string(b) + ":");
      places_.push_back(statements.size() - 1);
      for (std::size_t n = pick(options_.mostStatements + 1); n-- > 0;) addRandom();
      if (percent(options_.branchPercent)) addBranch(b, blocks);
    }
    if (scope != 0) closeScope();
    text =
        ".version 9.0\n.target sm_90a\n.address_size 64\n.func g()\n;\n.func (.reg .b32 %o) f(.reg .b32 %r0)\n{\n";
    for (const RandomStatement& s : statements) text += s.text + "\n";
    text += "}\n";
  }

  // A scope holds one to three blocks; its labels are known only inside.
  void planScopes(std::size_t blocks) {
    scopeOf_.assign(blocks, 0);
    std::size_t scopes = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (!percent(options_.scopePercent)) continue;
      ++scopes;
      for (std::size_t n = 1 + pick(3); n-- > 0 && b < blocks; ++b) scopeOf_[b] = scopes;
    }
  }

  void openScope(std::size_t ordinal) {
    hiddenSuffix_ = "#" + std::to_string(ordinal);
    hidden_ = {"%s", "%p0"};
    addPlain("{");
    addPlain(".reg .b32 %s;");
    addPlain(".reg .pred %p0;");
    if (!options_.hidesParameters) return;
    hidden_.insert({"%r0", "%o"});
    addPlain(".reg .b32 %r<1>, %o;");
  }
  void closeScope() {
    hidden_.clear();
    addPlain("}");
  }

  void copy(const std::string& to, const std::string& from) {
    const char* const move = to[1] == 'p' ? "mov.pred " : to.starts_with("%rd") ? "mov.b64 " : "mov.u32 ";
    add({.text = move + to + ", " + from + ";",
         .reads = {from},
         .writes = {to},
         .removable = true,
         .isMove = true});
  }

  // One copy, a chain, a swap, a rotation, or a copy under either truth of a predicate.
  void addCopies() {
    const std::string a = b32(), b = b32(), c = b32(), p = pred();
    switch (pick(9)) {
      case 0: return copy(p, pred());
      case 1: return copy(b64(), b64());
      case 2: copy(a, b); return copy(b, c);
      case 3:
        copy(a, b);
        copy(b, c);
        return copy(c, a);
      case 4:
        for (const char* const guard : {"@", "@!"}) {
          RandomStatement s{.text = guard + spelled(p) + " mov.u32 " + spelled(a) + ", " + spelled(b) + ";",
                            .reads = {a, b, p},
                            .mods = {a},
                            .removable = true,
                            .isMove = true};
          s.guard = guard + p;
          s.uses = {b, p};
          statements.push_back(s);
          if (pick(4) == 0) addRandom();
        }
        return;
      default: return copy(a, b);
    }
  }

  void addDefinitions() {
    for (const char* const r : {"%r0", "%s", "%t0", "%t1", "%o"})
      addPlain(std::string("mov.u32 ") + r + ", %clock;", r);
    for (const char* const r : {"%p0", "%p1", "%p2"})
      addPlain(std::string("setp.ne.u32 ") + r + ", %r0, 5;", r, "%r0");
    for (const char* const r : {"%rd0", "%rd1", "%rd2"}) addPlain(std::string("mov.u64 ") + r + ", %clock64;", r);
  }

  void addRandom() {
    if (options_.copyPercent != 0 && percent(options_.copyPercent)) return addCopies();
    const std::string a = b32(), b = b32(), c = b32(), p = pred(), q = pred(), d = b64();
    switch (pick(22)) {
      case 0: return copy(a, b);
      case 1: return add({"add.s32 " + a + ", " + b + ", " + c + ";", {b, c}, {a}, {}, true});
      case 2: return add({.text = "mov.u32 " + a + ", 7;", .writes = {a}, .removable = true, .isMove = true});
      case 3: return add({"setp.lt.s32 " + p + "|" + q + ", " + a + ", " + b + ";", {a, b}, {p, q}, {}, true});
      case 4: return add({"setp.eq.s32 _|" + q + ", " + a + ", " + b + ";", {a, b}, {q}, {}, true});
      case 5:  // of two alike it would be a copy
        if (b == c) return add({"selp.b32 " + a + ", " + b + ", 3, " + p + ";", {b, p}, {a}, {}, true});
        return add({"selp.b32 " + a + ", " + b + ", " + c + ", " + p + ";", {b, c, p}, {a}, {}, true});
      case 6: return add({"st.global.u32 [" + d + "], " + a + ";", {d, a}, {}, {}, false});
      case 7: return add({"ld.global.u32 " + a + ", [" + d + "+4];", {d}, {a}, {}, true});
      case 8: return add({"ld.volatile.global.u32 " + a + ", [" + d + "];", {d}, {a}, {}, false});
      case 9: return add({"atom.global.add.u32 " + a + ", [" + d + "], " + b + ";", {d, b}, {a}, {}, false});
      case 10: return add({"mov.b64 " + d + ", {" + a + ", " + b + "};", {a, b}, {d}, {}, true});
      case 11: return add({"mov.b64 {" + a + ", _}, " + d + ";", {d}, {a}, {}, true});
      case 12: return add({"add.cc.u32 " + a + ", " + b + ", " + c + ";", {b, c}, {a, "carry"}, {}, true});
      case 13: return add({"addc.u32 " + a + ", " + b + ", " + c + ";", {b, c, "carry"}, {a}, {}, true});
      case 14: return add({"addc.cc.u32 " + a + ", " + b + ", " + c + ";", {b, c, "carry"}, {a}, {"carry"}, true});
      case 15: return add({"mov.u32 %v.x, " + a + ";", {a, "%v"}, {}, {"%v"}, true});
      case 16: return add({"mov.u32 " + a + ", %v.y;", {"%v"}, {a}, {}, true});
      case 17: return add({"mov.u32 " + a + ", %tid.x;", {}, {a}, {}, true});
      case 18: return add({"mov.u32 " + a + ", %ctaid.x;", {}, {a}, {}, true});
      case 19: return add({"not.pred " + p + ", " + q + ";", {q}, {p}, {}, true});
      case 20: return add({"bar.sync 0;"});
      default:
        return add(
            {"shfl.sync.idx.b32 " + a + "|" + p + ", " + b + ", " + c + ", 31, -1;", {b, c}, {a, p}, {}, false});
    }
  }

  void addBranch(std::size_t block, std::size_t blocks) {
    std::vector<std::size_t> visible;
    for (std::size_t b = 0; b < blocks; ++b)
      if (scopeOf_[b] == 0 || scopeOf_[b] == scopeOf_[block]) visible.push_back(b);
    const std::size_t to = visible[pick(visible.size())];
    RandomStatement s;
    s.falls = false;
    switch (pick(8)) {
      case 0:
      case 1:
      case 2:
        s.text = "bra L" + std::to_string(to) + ";";
        s.labels = {to};
        break;
      case 3: {
        if (targets_.empty()) return;
        const std::string r = b32();
        s.text = "brx.idx " + r + ", T;";
        s.reads = {r};
        s.labels = targets_;
        break;
      }
      case 4:
        s.text = "ret;";
        s.reads = {"%o"};
        break;
      case 5: s.text = "exit;"; break;
      case 6: s.text = "trap;"; break;
      default: s.text = "call g;"; s.falls = true;
    }
    add(s);
  }

  std::mt19937_64 random_;
  RandomOptions options_;
  std::vector<std::size_t> targets_, places_, scopeOf_;
  std::set<std::string> hidden_;
  std::string hiddenSuffix_;
};

inline std::string randomFunction(uint64_t seed, const RandomOptions& options = {}) {
  return RandomFunction(seed, options).text;
}

}  // namespace ptxopt::testing
