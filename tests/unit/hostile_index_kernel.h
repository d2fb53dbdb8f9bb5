// Random kernels whose addresses are made in ways that bounds may get wrong: of 16, 32 and 64 bits, signed and unsigned, in
// variables that are written again, under guards, behind tests of several conditions, in loops that are left in the middle.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "support.h"

namespace ptxopt::testing {

class HostileKernel {
 public:
  // `isApart`: it loads by p and stores by q. What it stores is made of what it loaded.
  explicit HostileKernel(uint64_t seed, bool isApart = false) : random_(seed), isApart_(isApart) {
    text_ = kHeader +
            ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m, .param .u32 w, .param .u64 q,\n"
            "\t.param .u64 a, .param .s64 b, .param .u16 h)\n{\n"
            "\t.reg .pred %p<999>;\n\t.reg .b16 %h<999>;\n\t.reg .b32 %r<999>;\n\t.reg .b64 %d<999>;\n";
    line("ld.param.u64 %d0, [p];");
    line("ld.param.u64 %d998, [q];");
    for (const char* of : {"%r0", "%r997", "%r998"}) line("mov.u32 " + std::string(of) + ", 0;");
    for (const char* of : {"%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%ntid.x", "%ntid.y",
                           "%nctaid.x", "%nctaid.y", "%laneid"})
      line("mov.u32 " + fresh(32) + ", " + of + ";");
    for (const char* of : {"n", "m", "w"}) line("ld.param.u32 " + fresh(32) + ", [" + std::string(of) + "];");
    line("ld.param.u64 " + fresh(64) + ", [a];");
    line("ld.param.s64 " + fresh(64) + ", [b];");
    line("ld.param." + any({"u32 ", "s32 "}) + fresh(64) + ", [n];");
    line("ld.param.u16 " + fresh(16) + ", [h];");
    line("ld.param." + any({"u16 ", "s16 "}) + fresh(32) + ", [h];");
    line("mad.lo.s32 " + fresh(32) + ", %r4, %r7, %r1;");
    line("cvt.u16.u32 " + fresh(16) + ", %r1;");
    line("cvt.u64.u32 " + fresh(64) + ", %r" + std::to_string(registers_[1]) + ";");
    // Variables: read and written everywhere.
    for (const unsigned bits : {32u, 32u, 32u, 64u, 64u, 16u}) {
      const std::string from = value(bits), to = fresh(bits);
      line("mov.b" + std::to_string(bits) + " " + to + ", " + from + ";");
      variables_.push_back({to, bits});
    }
    for (int k = 0; k < 2; ++k) predicateVariables_.push_back(compare());
    block(3);
    access();
    text_ += "\tret;\n}\n";
  }
  const std::string& text() const { return text_; }

 private:
  struct Variable {
    std::string name;
    unsigned bits;
  };

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string any(std::initializer_list<const char*> of) {
    return of.begin()[below(static_cast<unsigned>(of.size()))];
  }
  void line(const std::string& s) { text_ += "\t" + s + "\n"; }
  static std::size_t file(unsigned bits) { return bits == 16 ? 0 : bits == 32 ? 1 : 2; }
  std::string named(unsigned bits) {
    static constexpr const char* kNames[] = {"%h", "%r", "%d"};
    return kNames[file(bits)] + std::to_string(++registers_[file(bits)]);
  }
  std::string fresh(unsigned bits) {
    values_[file(bits)].push_back(named(bits));
    return values_[file(bits)].back();
  }
  // Newer values more often.
  std::string value(unsigned bits) {
    const std::vector<std::string>& all = values_[file(bits)];
    const auto n = static_cast<unsigned>(all.size());
    return all[below(2) == 0 ? below(n) : n - 1 - below(std::min(n, 4u))];
  }
  std::string number() {
    return any({"0", "1", "2", "3", "4", "7", "16", "31", "100", "-1", "-4", "65535", "65537", "2147483647",
                "-2147483648", "0xffffffff"});
  }
  std::string valueOrNumber(unsigned bits) { return below(3) == 0 ? number() : value(bits); }
  std::string sized(const std::string& stem, unsigned bits) { return stem + std::to_string(bits) + " "; }

  // The operation that writes `d`, of `bits`.
  std::string operation(const std::string& d, unsigned bits) {
    const std::string a = value(bits), b = valueOrNumber(bits), c = value(bits), sign = any({"s", "u"});
    const auto typed = [&](const std::string& op) {
      return op + "." + sign + std::to_string(bits) + " " + d + ", ";
    };
    const auto plain = [&](const std::string& op) { return sized(op + ".b", bits) + d + ", "; };
    const std::string amount =
        below(3) == 0 ? value(32) : any({"1", "2", "3", "4", "15", "31", "33", "63", "65537", "-1"});
    switch (below(bits == 32 ? 31 : 22)) {
      case 0:
      case 1: return typed("add") + a + ", " + b;
      case 2: return typed("sub") + a + ", " + b;
      case 3: return typed("mul.lo") + a + ", " + b;
      case 4: return typed("mad.lo") + a + ", " + b + ", " + c;
      case 5: return plain("shl") + a + ", " + amount;
      case 6: return typed("shr") + a + ", " + amount;
      case 7: return plain("and") + a + ", " + (below(2) == 0 ? any({"1", "7", "255", "-4", "-2", "65535"}) : b);
      case 8: return plain(any({"or", "xor"})) + a + ", " + b;
      case 9:
      case 10: return typed(any({"min", "max"})) + a + ", " + b;
      case 11: return typed(any({"div", "rem"})) + a + ", " + (below(2) == 0 ? any({"2", "3", "4", "7", "-2"}) : c);
      case 12: return plain("selp") + a + ", " + b + ", " + compare();
      case 13: return plain("not") + a;
      case 14: return sized(any({"neg", "abs"}) + ".s", bits) + d + ", " + a;
      case 15:
      case 16: {
        // A conversion, or a product of what is narrower.
        if (bits == 16) return "cvt." + any({"u16.u32 ", "s16.s32 ", "u16.u64 ", "s16.s8 "}) + d + ", " + a;
        if (bits == 32) {
          if (below(2) == 0) return "mul.wide." + sign + "16 " + d + ", " + value(16) + ", " + value(16);
          if (below(3) == 0) return "cvt.u32." + any({"u64 ", "s64 "}) + d + ", " + value(64);
          return "cvt." + any({"u32.u16 ", "s32.s16 ", "u32.u8 ", "s32.s8 "}) + d + ", " + value(16);
        }
        if (below(2) == 0)
          return "mad.wide." + sign + "32 " + d + ", " + value(32) + ", " + valueOrNumber(32) + ", " + a;
        return "mul.wide." + sign + "32 " + d + ", " + value(32) + ", " + valueOrNumber(32);
      }
      case 17:
      case 18:
        if (bits == 16) return "cvt.u16.u32 " + d + ", " + value(32);
        if (bits == 32) return "cvt." + any({"u32.u16 ", "s32.s16 "}) + d + ", " + value(16);
        return "cvt." + any({"s64.s32 ", "u64.u32 ", "s64.s32 "}) + d + ", " + value(32);
      case 19:
        return "cvt." + any({"u8", "s8", "u16", "s16"}) + "." + sign + std::to_string(bits) + " " + d + ", " + a;
      case 20:
        if (bits == 16) return plain("mov") + a;
        return sized("bfe." + sign, bits) + d + ", " + a + ", " + any({"0", "3", "30", "31"}) + ", " +
               any({"0", "1", "5", "32"});
      case 21: return plain("mov") + b;
      case 22: return "mul.hi." + sign + "32 " + d + ", " + a + ", " + b;
      case 23: return "mul24.lo." + sign + "32 " + d + ", " + a + ", " + b;
      case 24: return "add.sat.s32 " + d + ", " + a + ", " + b;
      case 25: return any({"popc.b32 ", "clz.b32 ", "brev.b32 "}) + d + ", " + a;
      case 26: return "sad." + sign + "32 " + d + ", " + a + ", " + b + ", " + c;
      case 27:
        return "bfi.b32 " + d + ", " + a + ", " + c + ", " + any({"0", "4", "31"}) + ", " + any({"0", "4", "32"});
      case 28: return "slct.b32.s32 " + d + ", " + a + ", " + b + ", " + c;
      case 29: return "shf.l.wrap.b32 " + d + ", " + a + ", " + c + ", " + amount;
      default:
        return "lop3.b32 " + d + ", " + a + ", " + b + ", " + c + ", " + any({"0x80", "0xfe", "0x96", "0x8f"});
    }
  }

  void compute() {
    const unsigned kind = below(8);
    const unsigned bits = kind < 5 ? 32 : kind < 7 ? 64 : 16;
    if (registers_[file(bits)] > 900) return;
    const std::string d = named(bits);
    line(operation(d, bits) + ";");
    values_[file(bits)].push_back(d);
  }

  // What is written may be under a guard.
  void assign() {
    const Variable v = variables_[below(static_cast<unsigned>(variables_.size()))];
    const std::string guard = below(3) == 0 ? "@" + any({"", "!"}) + predicate() + " " : "";
    line(guard + operation(v.name, v.bits) + ";");
  }

  std::string predicate() {
    return below(4) == 0 ? predicateVariables_[below(static_cast<unsigned>(predicateVariables_.size()))]
                         : compare();
  }

  std::string compare() {
    const std::string p = "%p" + std::to_string(++predicates_);
    if (predicates_ > 900) return "%p1";
    const unsigned bits = any({"2", "2", "2", "6", "1"}) == "2" ? 32 : below(2) == 0 ? 64 : 16;
    const std::string type = any({".s", ".u"}) + std::to_string(bits) + " ";
    const std::string sides = value(bits) + ", " + valueOrNumber(bits);
    const std::string comparison = any({"lt", "le", "gt", "ge", "lt", "lt", "eq", "ne"});
    const unsigned kind = predicateVariables_.size() == 2 ? below(9) : 8;
    if (kind == 0) {
      line("setp." + comparison + any({".and", ".or", ".xor"}) + type + p + ", " + sides + ", " + any({"", "!"}) +
           predicateVariables_[below(2)] + ";");
    } else if (kind == 1) {
      const std::string other = "%p" + std::to_string(++predicates_);
      line("setp." + comparison + type + other + "|" + p + ", " + sides + ";");
    } else if (kind == 2) {
      const std::string x = compare(), y = compare();
      line(any({"and.pred ", "or.pred ", "xor.pred "}) + p + ", " + x + ", " + y + ";");
    } else if (kind == 3) {
      const std::string x = compare();
      line("not.pred " + p + ", " + x + ";");
    } else if (kind == 4) {
      line("setp." + comparison + type + predicateVariables_[below(2)] + ", " + sides + ";");
      line("mov.pred " + p + ", " + predicateVariables_[below(2)] + ";");
    } else {
      line("setp." + comparison + type + p + ", " + sides + ";");
    }
    return p;
  }

  void access() {
    if (registers_[2] > 900) return;
    const std::string address = named(64);
    const bool isLoad = below(8) < 6;
    std::string base = isApart_ && !isLoad ? "%d998" : "%d0";
    if (!isApart_ && below(8) == 0) {
      base = named(64);
      switch (below(4)) {
        case 0: line("selp.b64 " + base + ", %d0, %d998, " + compare() + ";"); break;
        case 1:
          line("sub.s64 " + base + ", %d998, %d0;");
          line("add.s64 " + base + ", " + base + ", %d0;");
          break;
        case 2: line("cvta.to.global.u64 " + base + ", %d998;"); break;
        default: line(any({"min.u64 ", "max.s64 "}) + base + ", %d0, %d998;");
      }
    }
    switch (below(4)) {
      case 0: line("add.s64 " + address + ", " + base + ", " + value(64) + ";"); break;
      case 1: {
        const std::string extended = named(64);
        line(any({"cvt.s64.s32 ", "cvt.u64.u32 "}) + extended + ", " + value(32) + ";");
        line("shl.b64 " + extended + ", " + extended + ", 2;");
        line("add.s64 " + address + ", " + base + ", " + extended + ";");
        break;
      }
      default:
        line(any({"mad.wide.s32 ", "mad.wide.u32 "}) + address + ", " + value(32) + ", " +
             any({"4", "4", "-4", "12"}) + ", " + base + ";");
    }
    const std::string guard = below(5) == 0 ? "@" + predicate() + " " : "";
    const std::string place = "[" + address + any({"", "+4", "+-8"}) + "]";
    if (isLoad) {
      const std::string to = any({"u32 %r0", "u32 %r0", "b32 %r0", "v2.u32 {%r0, %r998}", ""});
      line(guard + "ld.global." + (to.empty() ? "u32 " + named(32) : to) + ", " + place + ";");
      line("mad.lo.u32 %r997, %r997, 3, %r0;");
    } else {
      switch (below(3)) {
        case 0: line(guard + "st.global.u8 " + place + ", %r997;"); break;
        case 1: line(guard + "st.global.v2.u32 " + place + ", {%r997, %r998};"); break;
        default: line(guard + "red.global.add.u32 " + place + ", %r997;");
      }
    }
  }

  std::array<std::size_t, 3> mark() const { return {values_[0].size(), values_[1].size(), values_[2].size()}; }
  void forget(const std::array<std::size_t, 3>& from) {
    for (std::size_t k = 0; k < 3; ++k) values_[k].resize(from[k]);
  }

  void block(unsigned depth) {
    const unsigned statements = 2 + below(5);
    for (unsigned s = 0; s < statements; ++s) {
      const unsigned kind = below(14);
      if (kind < 4)
        compute();
      else if (kind < 6)
        access();
      else if (kind < 8)
        assign();
      else if (kind == 8)
        line("@" + compare() + any({" ret;", " exit;"}));
      else if (depth == 0)
        compute();
      else if (kind < 11)
        branch(depth);
      else
        loop(depth);
    }
  }

  void branch(unsigned depth) {
    const std::string label = "$L" + std::to_string(++labels_);
    line("@" + any({"", "!"}) + predicate() + " bra " + label + ";");
    const auto before = mark();
    block(depth - 1);
    access();
    forget(before);
    if (below(2) == 0) {
      line("bra " + label + "e;");
      text_ += label + ":\n";
      block(depth - 1);
      access();
      forget(before);
      text_ += label + "e:\n";
    } else {
      text_ += label + ":\n";
    }
    if (below(2) == 0) access();
  }

  void loop(unsigned depth) {
    const std::string label = "$L" + std::to_string(++labels_), end = label + "e", middle = label + "m";
    const unsigned kind = below(6);
    const unsigned bits = kind < 4 ? 32 : kind < 5 ? 64 : 16;
    const std::string type = std::to_string(bits);
    const std::string j = named(bits), limit = valueOrNumber(bits);
    const std::string step = any({"1", "1", "2", "4", "-1", "3", value(bits).c_str()});
    const std::string p = "%p" + std::to_string(++predicates_);
    const std::string test = "setp." + any({"lt", "lt", "le", "gt", "ge", "ne"}) + any({".s", ".u"}) + type + " " +
                             p + ", " + (below(4) == 0 ? limit + ", " + j : j + ", " + limit) + ";";
    const std::string leave = "@!" + p + " bra " + end + ";";
    line("mov.b" + type + " " + j + ", " + valueOrNumber(bits) + ";");
    if (below(12) == 0) line("@" + predicate() + " bra " + middle + ";");
    const bool isTop = below(2) == 0;
    if (!isTop && below(2) == 0) {
      line(test);
      line(leave);
    }
    text_ += label + ":\n";
    if (isTop) {
      line(test);
      line(leave);
    }
    const auto before = mark();
    values_[file(bits)].push_back(j);
    if (below(2) == 0) access();
    block(depth - 1);
    if (below(4) == 0) line("@" + predicate() + " bra " + end + ";");
    forget(before);
    values_[file(bits)].push_back(j);
    text_ += middle + ":\n";
    const bool isEarly = below(3) == 0;
    if (!isTop && isEarly) line(test);
    const std::string guard = below(8) == 0 ? "@" + predicate() + " " : "";
    line(guard + "add.s" + type + " " + j + ", " + j + ", " + step + ";");
    if (below(8) == 0) line("add.s" + type + " " + j + ", " + j + ", " + step + ";");
    if (isTop) {
      line("bra " + label + ";");
    } else {
      if (!isEarly) line(test);
      line("@" + p + " bra " + label + ";");
    }
    forget(before);
    if (below(2) == 0) values_[file(bits)].push_back(j);
    text_ += end + ":\n";
    access();
  }

  std::mt19937_64 random_;
  const bool isApart_;
  std::string text_;
  std::vector<std::string> values_[3];
  std::vector<Variable> variables_;
  std::vector<std::string> predicateVariables_;
  unsigned registers_[3] = {0, 0, 0}, predicates_ = 0, labels_ = 0;
};

}  // namespace ptxopt::testing
