// Random kernels of index arithmetic, guards and loops, for tests of what is known of the addresses that they reach.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "support.h"

namespace ptxopt::testing {

// A kernel of what nvcc makes of index arithmetic, and of what it never makes. It loads by its parameter p and, if asked,
// stores by q: as many bytes at once as is said, a power of two up to 4.
class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed, bool stores = false, unsigned read = 4, unsigned written = 4)
      : random_(seed), stores_(stores), read_(read), written_(written) {
    text_ = kHeader +
            ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m, .param .u32 w, .param .u64 q)\n{\n"
            "\t.reg .pred %p<999>;\n\t.reg .b32 %r<999>;\n\t.reg .b64 %rd<999>;\n";
    line("ld.param.u64 %rd0, [p];");
    line("ld.param.u64 %rd998, [q];");
    for (const char* of : {"%tid.x", "%tid.y", "%ctaid.x", "%ctaid.y", "%ntid.x", "%nctaid.x"})
      line("mov.u32 " + fresh() + ", " + of + ";");
    for (const char* of : {"n", "m", "w"}) line("ld.param.u32 " + fresh() + ", [" + std::string(of) + "];");
    line("mad.lo.s32 " + fresh() + ", %r3, %r5, %r1;");
    line("mad.lo.s32 " + fresh() + ", %r4, %r5, %r2;");
    line("mul.lo.s32 " + fresh() + ", %r5, %r6;");
    block(3);
    access();
    text_ += "\tret;\n}\n";
  }
  const std::string& text() const { return text_; }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string any(std::initializer_list<const char*> of) {
    return of.begin()[below(static_cast<unsigned>(of.size()))];
  }
  void line(const std::string& s) { text_ += "\t" + s + "\n"; }
  std::string fresh() {
    values_.push_back("%r" + std::to_string(++registers_));
    return values_.back();
  }
  // Newer values more often.
  std::string value() {
    const auto n = static_cast<unsigned>(values_.size());
    return values_[below(2) == 0 ? below(n) : n - 1 - below(std::min(n, 4u))];
  }
  std::string valueOrNumber() {
    return below(3) == 0 ? any({"0", "1", "2", "3", "4", "7", "16", "-1", "-4"}) : value();
  }

  void compute() {
    const std::string a = value(), b = valueOrNumber(), c = value();
    const std::string d = "%r" + std::to_string(++registers_);
    switch (below(14)) {
      case 0:
      case 1: line("add.s32 " + d + ", " + a + ", " + b + ";"); break;
      case 2: line("sub.s32 " + d + ", " + a + ", " + b + ";"); break;
      case 3: line("mul.lo.s32 " + d + ", " + a + ", " + b + ";"); break;
      case 4: line("mad.lo.s32 " + d + ", " + a + ", " + b + ", " + c + ";"); break;
      case 5: line("shl.b32 " + d + ", " + a + ", " + any({"1", "2", "4"}) + ";"); break;
      case 6: line(any({"shr.u32 ", "shr.s32 "}) + d + ", " + a + ", " + any({"1", "2", "31"}) + ";"); break;
      case 7: line("and.b32 " + d + ", " + a + ", " + any({"1", "3", "7", "-4", "-2", c.c_str()}) + ";"); break;
      case 8: line(any({"or.b32 ", "xor.b32 "}) + d + ", " + a + ", " + b + ";"); break;
      case 9: line(any({"min.s32 ", "max.s32 ", "min.u32 ", "max.u32 "}) + d + ", " + a + ", " + b + ";"); break;
      case 10:
        line(any({"div.u32 ", "rem.u32 ", "div.s32 ", "rem.s32 "}) + d + ", " + a + ", " +
             any({"2", "3", "4", "7"}) + ";");
        break;
      case 11: {
        const std::string p = compare();
        line("selp.b32 " + d + ", " + a + ", " + b + ", " + p + ";");
        break;
      }
      case 12: line("mul.hi.u32 " + d + ", " + a + ", -1431655765;"); break;
      default: {
        line("mov.u32 " + d + ", " + a + ";");
        const std::string p = compare();
        line("@" + p + " add.s32 " + d + ", " + b + ", 1;");
      }
    }
    values_.push_back(d);
  }

  std::string compare() {
    const std::string p = "%p" + std::to_string(++predicates_);
    line("setp." + any({"lt", "le", "gt", "ge", "lt", "lt", "eq", "ne"}) + any({".s32 ", ".u32 "}) + p + ", " +
         value() + ", " + valueOrNumber() + ";");
    return p;
  }

  void access() {
    const bool isStore = stores_ && below(2) == 0;
    const std::string base = isStore ? "%rd998" : "%rd0";
    const unsigned bytes = isStore ? written_ : read_;
    const std::string index = value();
    const std::string address = "%rd" + std::to_string(++wide_);
    if (below(3) == 0) {
      const std::string extended = "%rd" + std::to_string(++wide_);
      line(any({"cvt.s64.s32 ", "cvt.u64.u32 "}) + extended + ", " + index + ";");
      line("shl.b64 " + extended + ", " + extended + ", " + std::to_string(bytes / 2) + ";");
      line("add.s64 " + address + ", " + base + ", " + extended + ";");
    } else {
      line(any({"mad.wide.s32 ", "mad.wide.u32 "}) + address + ", " + index + ", " + std::to_string(bytes) + ", " +
           base + ";");
    }
    const std::string offset = any({"", "+", "+-"});
    const std::string place =
        "[" + address + (offset.empty() ? "" : offset + std::to_string(offset == "+" ? bytes : 2 * bytes)) + "]";
    line(isStore ? "st.global.b" + bits(bytes) + " " + place + ", %r1;" : load(place));
  }

  static std::string bits(unsigned bytes) { return std::to_string(8 * bytes); }
  std::string load(const std::string& place) const { return "ld.global.b" + bits(read_) + " %r0, " + place + ";"; }

  void block(unsigned depth) {
    const unsigned statements = 2 + below(5);
    for (unsigned s = 0; s < statements; ++s) {
      const unsigned kind = below(10);
      if (kind < 4 || registers_ > 900)
        compute();
      else if (kind < 6)
        access();
      else if (depth == 0)
        compute();
      else if (kind < 8)
        branch(depth);
      else
        loop(depth);
    }
  }

  // Values made inside are not read outside, but variables may be written.
  void branch(unsigned depth) {
    const std::string label = "$L" + std::to_string(++labels_);
    const std::string p = compare();
    line(any({"@", "@!"}) + p + " bra " + label + ";");
    const std::size_t before = values_.size();
    block(depth - 1);
    access();
    if (below(3) == 0) line("mov.u32 " + values_[below(static_cast<unsigned>(before))] + ", " + value() + ";");
    values_.resize(before);
    text_ += label + ":\n";
  }

  void loop(unsigned depth) {
    const std::string label = "$L" + std::to_string(++labels_), end = label + "e";
    const std::string j = "%r" + std::to_string(++registers_), limit = valueOrNumber();
    const std::string step = any({"1", "1", "2", "4", "-1", value().c_str()});
    const std::string comparison = any({"lt", "lt", "le", "gt", "ge", "ne"}) + any({".s32", ".u32"});
    const std::string test =
        "setp." + comparison + " %p" + std::to_string(++predicates_) + ", " + j + ", " + limit + ";";
    const std::string p = "%p" + std::to_string(predicates_);
    const std::string pointer = "%rd" + std::to_string(++wide_);
    line("mov.u32 " + j + ", " + valueOrNumber() + ";");
    line("mad.wide.s32 " + pointer + ", " + any({j.c_str(), value().c_str()}) + ", " + std::to_string(read_) +
         ", %rd0;");
    const bool isTop = below(2) == 0;
    if (!isTop && below(2) == 0) {
      line(test);
      line("@!" + p + " bra " + end + ";");
    }
    text_ += label + ":\n";
    if (isTop) {
      line(test);
      line("@!" + p + " bra " + end + ";");
    }
    const std::size_t before = values_.size();
    values_.push_back(j);
    if (below(2) == 0) access();
    if (below(2) == 0) line(load("[" + pointer + "]"));
    block(depth - 1);
    if (below(6) == 0) line("mov.u32 " + values_[below(static_cast<unsigned>(before))] + ", " + value() + ";");
    const bool isEarly = below(4) == 0;
    if (!isTop && isEarly) line(test);
    line("add.s32 " + j + ", " + j + ", " + step + ";");
    const std::string times = any({"1", "2", "-1", "4"});
    line("add.s64 " + pointer + ", " + pointer + ", " + std::to_string(std::stoi(times) * static_cast<int>(read_)) +
         ";");
    if (isTop) {
      line("bra " + label + ";");
    } else {
      if (!isEarly) line(test);
      line("@" + p + " bra " + label + ";");
    }
    values_.resize(before);
    text_ += end + ":\n";
    access();
  }

  std::mt19937_64 random_;
  const bool stores_;
  const unsigned read_, written_;
  std::string text_;
  std::vector<std::string> values_;
  unsigned registers_ = 0, predicates_ = 0, wide_ = 0, labels_ = 0;
};

}  // namespace ptxopt::testing
