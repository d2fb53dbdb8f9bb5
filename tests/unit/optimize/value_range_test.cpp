// What integers in registers may be, on small kernels.
#include "analysis/values/value_range.h"

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

struct Analysed {
  explicit Analysed(const std::string& text)
      : parsed(text),
        f(parsed.function()),
        cfg(*parsed, f),
        dominators(cfg, DominatorTree::Direction::Dominators),
        slots(f, cfg),
        intervals(f, cfg, slots, &dominators),
        ranges(*parsed, f, cfg, dominators, slots, intervals) {}

  RegId reg(std::string_view name) const {
    for (uint32_t r = 0; r < f.registers.size(); ++r)
      if (f.registers[r].name.valid() && parsed->text(f.registers[r].name) == name) return RegId(r);
    FAIL("no such register: " << name);
    return {};
  }
  // The value behind the last write of the text.
  std::string of(std::string_view name) {
    const RegId r = reg(name);
    InstrId last;
    for (const InstrId id : f)
      for (const Operand& o : f.operandsOf(f[id]))
        if (o.isRegister() && o.writes() && o.reg() == r) last = id;
    return ranges.of(r, intervals[r].valueOut(slots[last])).toString();
  }
  // The `membar`s of the kernel mark places: what is read in the block of the `index`-th.
  InstrId mark(std::size_t index) const {
    for (const InstrId id : f)
      if (f[id].isInstruction() && parsed->printedOpcode(f[id]) == "membar.gl" && index-- == 0) return id;
    FAIL("no such mark");
    return {};
  }
  BlockId block(std::size_t index) const { return cfg.blockOf(mark(index)); }
  std::string at(std::string_view name, std::size_t index = 0) {
    return ranges.at(reg(name), ranges.valueRead(reg(name), mark(index)), block(index)).toString();
  }
  std::string conditions(std::size_t index = 0) {
    std::string out;
    const auto text = [&](const ConditionOperand& o) {
      return o.isConstant() ? std::to_string(o.constant) : std::string(parsed.name(f.registers[o.reg.value].name));
    };
    for (const BranchCondition& c : ranges.conditionsAt(block(index)))
      out += text(c.left) + " " + std::string(name(c.relation)) + (c.isSigned ? "s " : " ") + text(c.right) + "; ";
    return out;
  }

  Parsed parsed;
  const Function& f;
  const Cfg cfg;
  const DominatorTree dominators;
  const SlotIndexes slots;
  const LiveIntervals intervals;
  ValueRanges ranges;
};

// The range of the register that the last statement of a kernel writes.
std::string rangeOf(const std::string& body, std::string_view name) {
  return Analysed(kernel(body + "\n")).of(name);
}

// A kernel with all registers of interest read at the end, so that they live.
std::string alive(const std::string& body) {
  std::string text = kernel(body);
  text.insert(text.rfind('}'),
              "st.global.u32 [%rd90], %r1;\nst.global.u32 [%rd90], %r2;\nst.global.u32 [%rd90], %r3;\n");
  return text;
}

std::string withDirective(const std::string& directive, const std::string& body) {
  std::string text = kernel(body);
  text.insert(text.find("\n{"), "\n" + directive);
  return text;
}

}  // namespace

TEST_CASE("value ranges: constants and special registers") {
  CHECK(rangeOf("mov.u32 %r1, 7;", "%r1") == "32: [7, 7]");
  CHECK(rangeOf("mov.u32 %r1, -7;", "%r1") == "32: signed [-7, -7]");
  CHECK(rangeOf("mov.u32 %r1, 0xFFFFFFFE;", "%r1") == "32: signed [-2, -2]");
  CHECK(rangeOf("mov.u64 %rd1, 0xFFFFFFFF;", "%rd1") == "64: [4294967295, 4294967295]");
  CHECK(rangeOf("mov.u32 %r1, WARP_SZ;", "%r1") == "32: [32, 32]");
  CHECK(rangeOf("mov.u32 %r1, %tid.x;", "%r1") == "32: [0, 1023]");
  CHECK(rangeOf("mov.u32 %r1, %tid.z;", "%r1") == "32: [0, 63]");
  CHECK(rangeOf("mov.u32 %r1, %ntid.y;", "%r1") == "32: [1, 1024]");
  CHECK(rangeOf("mov.u32 %r1, %ctaid.x;", "%r1") == "32: [0, 2147483646]");
  CHECK(rangeOf("mov.u32 %r1, %nctaid.y;", "%r1") == "32: [1, 65535]");
  CHECK(rangeOf("mov.u32 %r1, %laneid;", "%r1") == "32: [0, 31]");
  CHECK(rangeOf("mov.u32 %r1, %warpid;", "%r1") == "32: full");
  CHECK(rangeOf("mov.u32 %r1, %clock;", "%r1") == "32: full");
  CHECK(rangeOf("mov.u32 %r1, %lanemask_lt;", "%r1") == "32: full");
  CHECK(rangeOf("mov.f32 %f1, 0f00000000;", "%f1") == "32: full");
  CHECK(rangeOf("mov.u64 %rd1, p;", "%rd1") == "64: full");
}

TEST_CASE("value ranges: the block's stated size") {
  const auto in = [](const std::string& directive, const std::string& special) {
    return Analysed(withDirective(directive, "mov.u32 %r1, " + special + ";\n")).of("%r1");
  };
  CHECK(in(".reqntid 96, 2", "%tid.x") == "32: [0, 95]");
  CHECK(in(".reqntid 96, 2", "%tid.y") == "32: [0, 1]");
  CHECK(in(".reqntid 96, 2", "%tid.z") == "32: [0, 0]");
  CHECK(in(".reqntid 96, 2", "%ntid.x") == "32: [96, 96]");
  CHECK(in(".maxntid 16, 8, 1", "%tid.x") == "32: [0, 127]");  // only the product is sure
  CHECK(in(".maxntid 16, 8, 1", "%tid.y") == "32: [0, 127]");
  CHECK(in(".maxntid 16, 8, 1", "%ntid.z") == "32: [1, 64]");
}

TEST_CASE("value ranges: arithmetic") {
  const std::string t = "mov.u32 %r1, %tid.x;\n";
  CHECK(rangeOf(t + "add.s32 %r2, %r1, 5;", "%r2") == "32: [5, 1028]");
  CHECK(rangeOf(t + "add.s32 %r2, %r1, -5;", "%r2") == "32: signed [-5, 1018]");
  CHECK(rangeOf(t + "add.sat.s32 %r2, %r1, 5;", "%r2") == "32: full");
  CHECK(rangeOf(t + "add.cc.u32 %r2, %r1, 5;", "%r2") == "32: [5, 1028]");
  CHECK(rangeOf(t + "addc.u32 %r2, %r1, 5;", "%r2") == "32: full");
  CHECK(rangeOf(t + "sub.u32 %r2, 2000, %r1;", "%r2") == "32: [977, 2000]");
  CHECK(rangeOf(t + "mul.lo.u32 %r2, %r1, 12;", "%r2") == "32: [0, 12276]");
  CHECK(rangeOf(t + "mul.wide.u32 %rd2, %r1, -1;", "%rd2") == "64: [0, 4393751542785]");
  CHECK(rangeOf(t + "mul.wide.s32 %rd2, %r1, -1;", "%rd2") == "64: signed [-1023, 0]");
  CHECK(rangeOf(t + "mul.hi.u32 %r2, %r1, -1;", "%r2") == "32: [0, 1022]");
  CHECK(rangeOf(t + "mad.lo.s32 %r2, %r1, 4, 9;", "%r2") == "32: [9, 4101]");
  CHECK(rangeOf(t + "mad.wide.s32 %rd2, %r1, 4, 9;", "%rd2") == "64: [9, 4101]");
  CHECK(rangeOf(t + "mad.hi.sat.s32 %r2, %r1, 4, 9;", "%r2") == "32: full");
  CHECK(rangeOf(t + "div.u32 %r2, %r1, 10;", "%r2") == "32: [0, 102]");
  CHECK(rangeOf(t + "div.u32 %r2, 10, %r1;", "%r2") == "32: full");
  CHECK(rangeOf("rem.u32 %r2, %r1, 10;", "%r2") == "32: [0, 9]");
  CHECK(rangeOf("rem.s32 %r2, %r1, 10;", "%r2") == "32: signed [-9, 9]");
  CHECK(rangeOf("min.u32 %r2, %r1, 10;", "%r2") == "32: [0, 10]");
  CHECK(rangeOf("min.s32 %r2, %r1, 10;", "%r2") == "32: signed [-2147483648, 10]");
  CHECK(rangeOf("max.s32 %r2, %r1, 10;", "%r2") == "32: [10, 2147483647]");
  CHECK(rangeOf("max.s16x2 %r2, %r1, 10;", "%r2") == "32: full");
  CHECK(rangeOf("and.b32 %r2, %r1, 63;\nneg.s32 %r3, %r2;", "%r3") == "32: signed [-63, 0]");
  CHECK(rangeOf(t + "neg.s32 %r2, %r1;\nabs.s32 %r3, %r2;", "%r3") == "32: [0, 1023]");
}

TEST_CASE("value ranges: bits") {
  CHECK(rangeOf("and.b32 %r2, %r1, 63;", "%r2") == "32: [0, 63]");
  CHECK(rangeOf("and.b32 %r2, %r1, -4;", "%r2") == "32: [0, 4294967292] signed [-2147483648, 2147483644]");
  CHECK(rangeOf("or.b32 %r2, %r1, 64;", "%r2") == "32: [64, 4294967295] signed [-2147483584, 2147483647]");
  CHECK(rangeOf("mov.u32 %r1, %laneid;\nxor.b32 %r2, %r1, 32;", "%r2") == "32: [32, 63]");
  CHECK(rangeOf("mov.u32 %r1, %laneid;\nnot.b32 %r2, %r1;", "%r2") == "32: signed [-32, -1]");
  CHECK(rangeOf("mov.u32 %r1, %laneid;\nshl.b32 %r2, %r1, 3;", "%r2") == "32: [0, 248]");
  CHECK(rangeOf("mov.u32 %r1, %laneid;\nshl.b32 %r2, 1, %r1;", "%r2") ==
        "32: [1, 2147483648] signed [-2147483648, 1073741824]");
  CHECK(rangeOf("shr.u32 %r2, %r1, 28;", "%r2") == "32: [0, 15]");
  CHECK(rangeOf("shr.b32 %r2, %r1, 28;", "%r2") == "32: [0, 15]");
  CHECK(rangeOf("shr.s32 %r2, %r1, 28;", "%r2") == "32: signed [-8, 7]");
  CHECK(rangeOf("shr.u32 %r2, %r1, 33;", "%r2") == "32: [0, 0]");
  CHECK(rangeOf("bfe.u32 %r2, %r1, 4, 5;", "%r2") == "32: [0, 31]");
  CHECK(rangeOf("bfe.s32 %r2, %r1, 4, 5;", "%r2") == "32: signed [-16, 15]");
  CHECK(rangeOf("bfe.s32 %r2, %r1, 28, 5;", "%r2") == "32: signed [-8, 7]");
  CHECK(rangeOf("bfe.s32 %r2, %r1, 4, 256;", "%r2") == "32: [0, 0]");
  CHECK(rangeOf("bfe.u32 %r2, %r1, %r3, 5;", "%r2") == "32: full");
  // Of 64 bits the ISA takes the lowest byte of a position and a length, ptxas takes all: both are in the range.
  CHECK(rangeOf("bfe.u64 %rd2, %rd1, 4, 255;", "%rd2") == "64: [0, 1152921504606846975]");
  CHECK(rangeOf("bfe.u64 %rd2, %rd1, 4, 256;", "%rd2") == "64: full");
  CHECK(rangeOf("bfe.s64 %rd2, 5, 256, 4;", "%rd2") == "64: full");
  CHECK(rangeOf("bfe.u64 %rd2, 5, 256, 4;", "%rd2") == "64: [0, 5]");
  CHECK(rangeOf("popc.b64 %r2, %rd1;", "%r2") == "32: [0, 64]");
  CHECK(rangeOf("clz.b32 %r2, %r1;", "%r2") == "32: [0, 32]");
  CHECK(rangeOf("cnot.b32 %r2, %r1;", "%r2") == "32: [0, 1]");
  CHECK(rangeOf("and.pred %p1, %p2, %p3;", "%p1") == "0: full");
}

TEST_CASE("value ranges: widths") {
  CHECK(rangeOf("ld.global.u8 %r1, [%rd1];", "%r1") == "32: [0, 255]");
  CHECK(rangeOf("ld.global.s8 %r1, [%rd1];", "%r1") == "32: signed [-128, 127]");
  CHECK(rangeOf("ld.global.b16 %r1, [%rd1];", "%r1") == "32: [0, 65535]");
  CHECK(rangeOf("ld.global.u32 %rd2, [%rd1];", "%rd2") == "64: [0, 4294967295]");
  CHECK(rangeOf("ld.global.u32 %r1, [%rd1];", "%r1") == "32: full");
  CHECK(rangeOf("ld.global.v2.u8 {%h1, %h2}, [%rd1];", "%h2") == "16: [0, 255]");
  CHECK(rangeOf("ld.global.v2.u8 {%h1, %h1}, [%rd1];", "%h1") == "16: full");
  CHECK(rangeOf("ld.global.L1::evict_last.u8 %r1, [%rd1];", "%r1") == "32: [0, 255]");
  CHECK(rangeOf("atom.global.add.u32 %r1, [%rd1], 1;", "%r1") == "32: full");
  CHECK(rangeOf("cvt.u64.u32 %rd1, %r1;", "%rd1") == "64: [0, 4294967295]");
  CHECK(rangeOf("cvt.s64.s32 %rd1, %r1;", "%rd1") == "64: signed [-2147483648, 2147483647]");
  CHECK(rangeOf("cvt.u64.s32 %rd1, %r1;", "%rd1") == "64: signed [-2147483648, 2147483647]");
  CHECK(rangeOf("cvt.u32.u8 %r1, %r2;", "%r1") == "32: [0, 255]");
  CHECK(rangeOf("cvt.s8.s32 %r1, %r2;", "%r1") == "32: signed [-128, 127]");
  CHECK(rangeOf("cvt.u8.s32 %r1, %r2;", "%r1") == "32: [0, 255]");
  CHECK(rangeOf("cvt.sat.u8.s32 %r1, %r2;", "%r1") == "32: full");
  CHECK(rangeOf("cvt.rzi.s32.f32 %r1, %f1;", "%r1") == "32: full");
  CHECK(rangeOf("mov.u32 %r1, %tid.x;\ncvt.u16.u32 %h1, %r1;", "%h1") == "16: [0, 1023]");
  CHECK(rangeOf("mov.u32 %r1, %tid.x;\ncvt.u32.u8 %r2, %r1;", "%r2") == "32: [0, 255]");
  CHECK(rangeOf("mov.b64 {%r1, %r2}, %rd1;", "%r1") == "32: full");
  CHECK(rangeOf("mov.u32 %v1.x, 5;", "%v1") == "0: full");
}

TEST_CASE("value ranges: one of two") {
  CHECK(rangeOf("selp.b32 %r1, 3, 9, %p1;", "%r1") == "32: [3, 9]");
  CHECK(rangeOf("slct.s32.s32 %r1, 3, -9, %r2;", "%r1") == "32: [3, 4294967287] signed [-9, 3]");
  CHECK(rangeOf("set.lt.u32.f32 %r1, %f1, %f2;", "%r1") == "32: signed [-1, 0]");
  CHECK(rangeOf("set.lt.u32.f16x2 %r1, %r2, %r3;", "%r1") == "32: full");  // 0xffff and 0xffff0000, too
  CHECK(rangeOf("mov.u32 %r1, 3;\n@%p1 mov.u32 %r1, 9;", "%r1") == "32: [3, 9]");
  CHECK(rangeOf("@%p1 mov.u32 %r1, 9;", "%r1") == "32: full");
  CHECK(rangeOf("mov.u32 %r1, 3;\nfrob.u32 %r1, 9;", "%r1") == "32: full");
}

TEST_CASE("value ranges: where ways meet") {
  const std::string meet =
      "@%p1 bra ELSE;\nmov.u32 %r1, 3;\nmov.u32 %r3, 1;\nbra.uni END;\nELSE:\nmov.u32 %r1, 9;\nEND:\nmembar.gl;\n";
  Analysed a(alive(meet));
  CHECK(a.at("%r1") == "32: [3, 9]");
  CHECK(a.at("%r3") == "32: full");  // on one way nobody wrote it
  CHECK(a.ranges.valueRead(a.reg("%r2"), a.mark(0)).valid());
  CHECK(a.at("%r2") == "32: full");

  // Around a loop only what the last instruction says itself.
  Analysed loop(
      alive("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 5;\nL:\nmembar.gl;\nadd.u32 %r1, %r1, %r2;\n"
            "and.b32 %r2, %r1, 7;\n@%p1 bra L;\n"));
  CHECK(loop.at("%r1") == "32: full");
  CHECK(loop.at("%r2") == "32: [0, 7]");
  CHECK(loop.at("%r3") == "32: [5, 5]");
  CHECK(loop.of("%r1") == "32: full");

  // The same whatever is asked for first.
  const std::string around =
      "mov.u32 %r1, 0;\nL:\nmembar.gl;\nadd.u32 %r2, %r1, 1;\nand.b32 %r1, %r2, 7;\n@%p1 bra L;\n";
  Analysed first(alive(around)), last(alive(around));
  CHECK(first.at("%r1") == "32: [0, 7]");
  CHECK(first.of("%r2") == "32: [1, 8]");
  CHECK(last.of("%r2") == "32: [1, 8]");
  CHECK(last.at("%r1") == "32: [0, 7]");

  // Where a label's address is taken, control may come from anywhere.
  Analysed root(alive("mov.u32 %r1, 0;\n@%p1 bra L;\nmov.u32 %r1, 1;\nmov.u64 %rd1, L;\nL:\nmembar.gl;\n"));
  CHECK(root.at("%r1") == "32: full");
}

TEST_CASE("value ranges: what a branch says") {
  const auto taken = [](const std::string& compare, const std::string& guard = "@%p1") {
    return Analysed(alive(compare + "\n" + guard + " bra T;\nret;\nT:\nmembar.gl;\n")).at("%r1");
  };
  CHECK(taken("setp.lt.u32 %p1, %r1, 100;") == "32: [0, 99]");
  CHECK(taken("setp.lo.u32 %p1, %r1, 100;") == "32: [0, 99]");
  CHECK(taken("setp.hs.u32 %p1, %r1, 100;", "@!%p1") == "32: [0, 99]");
  CHECK(taken("setp.lt.s32 %p1, %r1, 100;") == "32: signed [-2147483648, 99]");
  CHECK(taken("setp.ge.s32 %p1, %r1, 0;") == "32: [0, 2147483647]");
  CHECK(taken("setp.gt.s32 %p1, 100, %r1;") == "32: signed [-2147483648, 99]");
  CHECK(taken("setp.eq.s32 %p1, %r1, -4;") == "32: signed [-4, -4]");
  CHECK(taken("setp.ne.u32 %p1, %r1, 0;") == "32: [1, 4294967295]");
  CHECK(taken("setp.ne.u32 %p1, %r1, 5;") == "32: full");
  CHECK(taken("setp.ne.u32 %p1, %r1, 5;", "@!%p1") == "32: [5, 5]");
  CHECK(taken("setp.lt.u32 %p1, %r1, %r2;") == "32: [0, 4294967294]");
  CHECK(taken("mov.u32 %r2, %ntid.x;\nsetp.lt.u32 %p1, %r1, %r2;") == "32: [0, 1023]");
  CHECK(taken("setp.lt.f32 %p1, %f1, %f2;") == "32: full");
  CHECK(taken("setp.lt.u32 %p2|%p1, %r1, 100;", "@!%p1") == "32: [0, 99]");
  CHECK(taken("setp.lt.u32 %p1|%p2, %r1, 100;") == "32: [0, 99]");
  CHECK(taken("setp.lt.u32 %p2, %r1, 100;\nsetp.gt.and.u32 %p1, %r1, 7, %p2;") == "32: [8, 99]");
  CHECK(taken("setp.lt.u32 %p2, %r1, 100;\nsetp.gt.and.u32 %p1, %r1, 7, !%p2;") == "32: [100, 4294967295]");
  CHECK(taken("setp.lt.u32 %p2, %r1, 100;\nsetp.gt.or.u32 %p1, %r1, 7, %p2;") == "32: full");
  CHECK(taken("setp.ge.u32 %p2, %r1, 100;\nsetp.lt.or.u32 %p1, %r1, 7, %p2;", "@!%p1") == "32: [7, 99]");
  CHECK(taken("setp.ge.u32 %p2, %r1, 100;\nsetp.lt.or.u32 %p3|%p1, %r1, 7, %p2;", "@!%p1") == "32: [0, 6]");
  CHECK(taken("setp.lt.u32 %p2, %r1, 9;\nsetp.gt.u32 %p3, %r1, 3;\nand.pred %p1, %p2, %p3;") == "32: [4, 8]");
  CHECK(taken("setp.lt.u32 %p2, %r1, 9;\nsetp.gt.u32 %p3, %r1, 3;\nor.pred %p1, %p2, %p3;") == "32: full");
  CHECK(taken("setp.ge.u32 %p2, %r1, 9;\nnot.pred %p3, %p2;\nmov.pred %p1, %p3;") == "32: [0, 8]");
  CHECK(taken("setp.ge.u32 %p2, %r1, 9;\nxor.pred %p1, %p2, %p3;") == "32: full");
  // A comparison under a guard, and one that is no longer in the predicate.
  CHECK(taken("@%p2 setp.lt.u32 %p1, %r1, 100;") == "32: full");
  CHECK(taken("setp.lt.u32 %p1, %r1, 100;\nsetp.lt.f32 %p1, %f1, %f2;") == "32: full");
  CHECK(taken("setp.lt.u32 %p1, %r1, 100;\nmov.u32 %r1, %r2;") == "32: full");
  CHECK(taken("setp.lt.u32 %p1, %r1, 100;\nadd.u32 %r1, %r1, 1;") == "32: [1, 100]");
  CHECK(taken("mov.u32 %r1, 5;\nsetp.gt.u32 %p1, %r1, 100;") == "32: [5, 5]");  // never runs
}

TEST_CASE("value ranges: which edges say something") {
  // The way that falls through.
  CHECK(Analysed(alive("setp.ge.u32 %p1, %r1, 9;\n@%p1 bra T;\nmembar.gl;\nT:\n")).at("%r1") == "32: [0, 8]");
  CHECK(Analysed(alive("setp.ge.u32 %p1, %r1, 9;\n@%p1 exit;\nmembar.gl;\n")).at("%r1") == "32: [0, 8]");
  CHECK(Analysed(alive("setp.ge.u32 %p1, %r1, 9;\n@!%p1 ret;\nmembar.gl;\n")).at("%r1") == "32: [9, 4294967295]");
  // Both ways lead there, or others do as well.
  CHECK(Analysed(alive("setp.ge.u32 %p1, %r1, 9;\n@%p1 bra T;\nT:\nmembar.gl;\n")).at("%r1") == "32: full");
  CHECK(Analysed(alive("setp.ge.u32 %p1, %r1, 9;\n@%p1 bra T;\nmov.u32 %r2, 1;\nT:\nmembar.gl;\n")).at("%r1") ==
        "32: full");
  CHECK(Analysed(alive("@%p3 bra T;\nsetp.ge.u32 %p1, %r1, 9;\n@%p1 bra T;\nret;\nT:\nmembar.gl;\n")).at("%r1") ==
        "32: full");
  CHECK(Analysed(alive("mov.u64 %rd1, T;\nsetp.ge.u32 %p1, %r1, 9;\n@%p1 bra T;\nret;\nT:\nmembar.gl;\n"))
            .at("%r1") == "32: full");
  // The block and all below it, not beside it.
  Analysed nest(
      alive("setp.ge.u32 %p1, %r1, 100;\n@%p1 bra OUT;\nsetp.lt.u32 %p2, %r1, 10;\n@%p2 bra LOW;\n"
            "membar.gl;\nbra OUT;\nLOW:\nmembar.gl;\nOUT:\nmembar.gl;\n"));
  CHECK(nest.at("%r1", 0) == "32: [10, 99]");
  CHECK(nest.at("%r1", 1) == "32: [0, 9]");
  CHECK(nest.at("%r1", 2) == "32: full");
  CHECK(nest.conditions(0) == "%r1 >= 10; %r1 < 100; ");
  CHECK(nest.conditions(1) == "%r1 < 10; %r1 < 100; ");
  CHECK(nest.conditions(2) == "");
  CHECK(nest.ranges.conditionsAt(nest.block(0), 1).size() == 1);
}

TEST_CASE("value ranges: copies of what is compared, and what is computed from it") {
  Analysed a(
      alive("mov.u32 %r2, %r1;\nsetp.ge.u32 %p1, %r2, 9;\n@%p1 exit;\nshl.b32 %r3, %r1, 2;\n"
            "cvt.u64.u32 %rd5, %r3;\nadd.s64 %rd90, %rd5, 4;\nmembar.gl;\n"));
  CHECK(a.at("%r1") == "32: [0, 8]");
  CHECK(a.at("%r2") == "32: [0, 8]");
  CHECK(a.at("%r3") == "32: [0, 32]");
  CHECK(a.at("%rd90") == "64: [4, 36]");
  // The other operand as it is in the block.
  Analysed b(alive("setp.gt.u32 %p1, %r2, 50;\n@%p1 exit;\nsetp.lt.u32 %p2, %r1, %r2;\n@!%p2 exit;\nmembar.gl;\n"));
  CHECK(b.at("%r1") == "32: [0, 49]");
  CHECK(b.at("%r2") == "32: [1, 50]");
  CHECK(b.conditions() == "%r1 < %r2; %r2 <= 50; ");
}

TEST_CASE("value ranges: why") {
  Analysed a(
      alive("mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 9;\n@%p1 exit;\nand.b32 %r2, %r3, 7;\nmembar.gl;\n"));
  const RegId r1 = a.reg("%r1"), r2 = a.reg("%r2");
  const ValueId v1 = a.ranges.valueRead(r1, a.mark(0)), v2 = a.ranges.valueRead(r2, a.mark(0));
  CHECK(a.ranges.explain(r1, v1).reason == RangeReason::SpecialRegister);
  CHECK(a.ranges.explain(r1, v1).where == a.parsed.at(0));
  CHECK(a.ranges.explainAt(r1, v1, a.block(0)).reason == RangeReason::Branch);
  CHECK(a.ranges.explainAt(r1, v1, a.block(0)).where == a.parsed.at(1));
  CHECK(a.ranges.explainAt(r2, v2, a.block(0)).reason == RangeReason::Mask);
  CHECK(a.ranges.definition(r1, v1) == a.parsed.at(0));
}

TEST_CASE("value ranges: long chains and many phis") {
  std::string body = "mov.u32 %r1, 0;\n";
  for (int i = 0; i < 20'000; ++i)
    body += "@%p" + std::to_string(i % 3) + " bra L" + std::to_string(i) + ";\nadd.u32 %r1, %r1, 1;\nL" +
            std::to_string(i) + ":\n";
  body += "membar.gl;\n";
  Analysed a(alive(body));
  CHECK(a.at("%r1") == "32: [0, 20000]");
  std::string guards = "mov.u32 %r1, 0;\n";
  for (int i = 0; i < 20'000; ++i)
    guards += "setp.gt.u32 %p1, %r2, " + std::to_string(30'000 - i) + ";\n@%p1 exit;\n";
  Analysed b(alive(guards + "membar.gl;\n"));
  CHECK(b.at("%r2") == "32: [0, 10001]");
  CHECK(b.ranges.conditionsAt(b.block(0)).size() == 32);
}
