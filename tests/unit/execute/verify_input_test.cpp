// The inputs that verify makes up, and what it says about small kernels.
#include "verify/input.h"

#include <cstring>
#include <set>

#include "verify_support.h"

namespace ptxopt::verify {
namespace {

KernelUse usePointerAndSize() {
  KernelUse use;
  Field p;
  p.bytes = 8;
  p.parameter = "p";
  p.use = Field::Use::Pointer;
  p.element = ScalarType::f32;
  Field n;
  n.offset = 8;
  n.parameter = "n";
  use.fields = {p, n};
  return use;
}

// The result of the first text is determined, and the second leaves something else.
void checkDiffers(const std::string& a, const std::string& b) {
  const Parsed x(a), y(b);
  CHECK(verify(*x, *x, {}).at(0).verdict == Verdict::Equal);
  CHECK(verify(*x, *y, {}).at(0).verdict == Verdict::Different);
}

}  // namespace

TEST_CASE("input: the same seed and number give the same trial, another seed another") {
  const KernelUse use = usePointerAndSize();
  bool different = false;
  for (unsigned number = 0; number < 16; ++number) {
    const Trial a = makeTrial(use, {}, 7, number), b = makeTrial(use, {}, 7, number),
                c = makeTrial(use, {}, 8, number);
    CHECK((a.block == b.block));
    CHECK((a.grid == b.grid));
    REQUIRE(a.fields.size() == 2);
    CHECK(a.fields[1].bits == b.fields[1].bits);
    CHECK(a.fields[0].contents.seed == b.fields[0].contents.seed);
    CHECK(a.fields[0].isPointer);
    CHECK_FALSE(a.fields[1].isPointer);
    different = different || !(a.block == c.block) || a.fields[1].bits != c.fields[1].bits;
  }
  CHECK(different);
}

TEST_CASE("input: sizes hit the edges of the block within the default trials") {
  const KernelUse use = usePointerAndSize();
  std::set<int64_t> fromBlock, fromGrid;
  std::set<uint64_t> small;
  for (unsigned number = 0; number < 16; ++number) {
    const Trial t = makeTrial(use, {}, 1, number);
    const auto n = static_cast<int64_t>(t.fields[1].bits);
    fromBlock.insert(n - static_cast<int64_t>(t.block.count()));
    fromGrid.insert(n - static_cast<int64_t>(t.block.count() * t.grid.count()));
    small.insert(t.fields[1].bits);
  }
  CHECK(fromBlock.contains(-1));
  CHECK(fromBlock.contains(1));
  CHECK(fromGrid.contains(0));
  CHECK(small.contains(0));
  CHECK(small.contains(1));
}

TEST_CASE("input: shapes keep to the directives") {
  const auto limitsOf = [](const std::string& directives) {
    const Parsed p(kernel("", directives));
    return shapeLimits(*p, p.function());
  };
  const KernelUse use = usePointerAndSize();
  for (unsigned number = 0; number < 40; ++number) {
    CHECK((makeTrial(use, limitsOf(".reqntid 8, 4, 2\n"), 1, number).block == exec::Dim3{8, 4, 2}));
    CHECK(makeTrial(use, limitsOf(".maxntid 96\n"), 1, number).block.count() <= 96);
    const Trial t = makeTrial(use, limitsOf(".reqnctapercluster 2\n"), 1, number);
    CHECK((t.cluster == exec::Dim3{2, 1, 1}));
    CHECK(t.grid.x % 2 == 0);
  }
}

TEST_CASE("input: near an input that ran stay the block and what points, and scalars move by little") {
  const KernelUse use = usePointerAndSize();
  const Trial t = makeTrial(use, {}, 1, 3);
  std::set<int64_t> steps;
  for (unsigned number = 0; number < 200; ++number) {
    const Trial near = nearTrial(t, use, 1, number);
    CHECK((near.block == t.block));
    CHECK(near.fields[0].isPointer);
    CHECK(near.dirty == (number % 2 == 1));
    steps.insert(static_cast<int64_t>(near.fields[1].bits) - static_cast<int64_t>(t.fields[1].bits));
  }
  for (const int64_t step : {-1, 0, 1}) CHECK(steps.contains(step));
}

TEST_CASE("verify: an index that only the far end of a large grid tells from another") {
  // n floats, the number of a thread taken as signed or unsigned, and cut to 16 bits.
  const auto body = [](const std::string& index) {
    return "setp.ge.u32 %p1, %r5, %r1;\n@%p1 ret;\n" + index +
           "\nshl.b64 %rd4, %rd4, 2;\nadd.s64 %rd4, %rd1, %rd4;\nst.global.u32 [%rd4], %r2;\n";
  };
  const std::string right = body("cvt.u64.u32 %rd4, %r5;");
  CHECK(compare(right, right).verdict == Verdict::Equal);
  const KernelVerdict v = compare(right, body("cvt.s64.s32 %rd4, %r5;"));
  CHECK(v.verdict == Verdict::Different);
  CHECK(v.detail.find("only blocks from number ") != std::string::npos);
  CHECK(compare(right, body("cvt.u64.u16 %rd4, %r5;")).verdict == Verdict::Different);
}

TEST_CASE("verify: a read of what nothing wrote excuses only what depends on it") {
  // A structure whose second word is padding is copied to the stack whole; a sum of its first is stored.
  const auto body = [](const std::string& first, const std::string& second) {
    return ".local .align 8 .b8 s[8], c[8];\n.reg .b64 %pair;\nst.local.u32 [s], %r1;\nld.local.u64 %pair, [s];\n"
           "st.local.u64 [c], %pair;\nld.local.u32 %r6, [c];\nadd.u32 %r6, %r6, " +
           first + ";\nst.global.u32 [%rd3], %r6;\n" + second;
  };
  const std::string padding = "ld.local.u32 %r7, [c+4];\nadd.u32 %r7, %r7, 1;\nst.global.u32 [%rd3], %r7;\n";
  CHECK(compare(body("1", ""), body("1", "")).verdict == Verdict::Equal);
  CHECK(compare(body("1", ""), body("2", "")).verdict == Verdict::Different);
  CHECK(compare(body("1", padding), body("2", padding)).verdict == Verdict::Equal);
  CHECK(compare(body("1", padding), body("1", "")).verdict == Verdict::Inconclusive);
}

TEST_CASE("verify: a kernel that is not determined by itself is known with the coverage") {
  VerifyOptions options;
  options.coverage = true;
  const auto why = [&](const std::string& body) { return compare(body, body, options).undetermined; };
  CHECK(why("st.global.u32 [%rd3], %r1;\n") == "");
  CHECK(why("st.global.u32 [%rd3], %r9;\n") == "it depends on what nothing has written");
  CHECK(why("mov.u32 %r6, tile;\nst.shared.u32 [%r6], %r2;\nbar.sync 0;\nld.shared.u32 %r7, [%r6];\n"
            "st.global.u32 [%rd3], %r7;\n")
            .find("race: ") != std::string::npos);
}

TEST_CASE("verify: a kernel equals itself, whatever it does with its inputs") {
  const std::string body =
      "setp.ge.u32 %p1, %r5, %r1;\n@%p1 ret;\nld.global.f32 %f1, [%rd3];\nfma.rn.f32 %f1, %f1, %f1, 0f3F800000;\n"
      "st.global.f32 [%rd3], %f1;\n";
  const KernelVerdict v = compare(body, body);
  CHECK(v.verdict == Verdict::Equal);
  CHECK(v.trials == 21 * VerifyOptions{}.trials);  // it ends soon
}

TEST_CASE("verify: bounds that are one off") {
  const std::string after = "@%p1 ret;\nst.global.u32 [%rd3], 1;\n";
  CHECK(compare("setp.ge.u32 %p1, %r5, %r1;\n" + after, "setp.gt.u32 %p1, %r5, %r1;\n" + after).verdict ==
        Verdict::Different);
}

TEST_CASE("verify: signs and roundings") {
  const auto differ = [](const std::string& a, const std::string& b, const std::string& load = "u32 %r6") {
    const std::string type = load.substr(0, load.find(' ')), reg = load.substr(load.find(' ') + 1);
    const std::string head = "ld.global." + type + " " + reg + ", [%rd3];\n";
    const std::string tail = "st.global." + type + " [%rd3], " + reg + ";\n";
    return compare(head + a + tail, head + b + tail).verdict == Verdict::Different;
  };
  CHECK(differ("shr.u32 %r6, %r6, 1;\n", "shr.s32 %r6, %r6, 1;\n"));
  CHECK(differ("max.u32 %r6, %r6, 7;\n", "max.s32 %r6, %r6, 7;\n"));
  CHECK(differ("mul.hi.u32 %r6, %r6, %r6;\n", "mul.hi.s32 %r6, %r6, %r6;\n"));
  CHECK(differ("add.rn.f32 %f1, %f1, 0f3DCCCCCD;\n", "add.rz.f32 %f1, %f1, 0f3DCCCCCD;\n", "f32 %f1"));
  CHECK(differ("add.f32 %f1, %f1, %f1;\n", "add.ftz.f32 %f1, %f1, %f1;\n", "f32 %f1"));
}

TEST_CASE("verify: the lines that the inputs reach") {
  VerifyOptions options;
  options.coverage = true;
  const Parsed p(
      kernel("setp.ne.u32 %p1, %r2, %r2;\n"
             "@%p1 st.global.u32 [%rd3], 1;\n"
             "@!%p1 bra L;\n"
             "st.global.u32 [%rd3], 2;\n"
             "L:\n"
             "st.global.u32 [%rd3], 3;\n"));
  const KernelVerdict v = verify(*p, *p, options).at(0);
  const std::size_t first = locate(p.source, p.source.find("setp.ne")).line;
  const auto has = [](const std::vector<std::size_t>& lines, std::size_t line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(has(v.executed, first));
  CHECK(has(v.reached, first + 1));
  CHECK_FALSE(has(v.executed, first + 1));
  CHECK(has(v.executed, first + 2));
  CHECK_FALSE(has(v.reached, first + 3));
  CHECK(has(v.executed, first + 5));
  options.coverage = false;
  CHECK(verify(*p, *p, options).at(0).reached.empty());
}

TEST_CASE("verify: the lines that compute something else") {
  VerifyOptions options;
  options.coverage = true;
  const auto changed = [&](const std::string& a, const std::string& b) {
    const Parsed x(kernel(a + "\nst.global.u32 [%rd3], %r6;\n")), y(kernel(b + "\nst.global.u32 [%rd3], %r6;\n"));
    const std::size_t first = locate(x.source, x.source.find(a)).line;
    std::vector<std::size_t> lines = verify(*x, *y, options).at(0).changed;
    for (std::size_t& line : lines) line -= first;
    return lines;
  };
  using Lines = std::vector<std::size_t>;
  CHECK(changed("add.u32 %r6, %r2, 1;", "add.u32 %r6, %r2, 1;").empty());
  CHECK(changed("add.u32 %r6, %r2, 1;", "add.u32 %r6, 1, %r2;").empty());
  CHECK(changed("mul.hi.u32 %r6, %r2, 3;", "mul.hi.s32 %r6, %r2, 3;").empty());  // %r2 is tid.x
  CHECK(changed("add.u32 %r6, %r2, 1;", "add.u32 %r6, %r2, 2;") == Lines{0, 1});
  CHECK(changed("add.u32 %r7, %r2, 1;\nmov.u32 %r6, 0;", "add.u32 %r7, %r2, 2;\nmov.u32 %r6, 0;") == Lines{0});
  CHECK(changed("mov.u32 %r6, 0;\nst.global.u32 [%rd3], %r2;", "mov.u32 %r6, 0;\n") == Lines{1});
  const std::string guarded = "mov.u32 %r6, 0;\nsetp.eq.u32 %p1, %r6, %r6;\n";
  CHECK(changed(guarded + "@%p1 st.global.u32 [%rd3], %r2;", guarded + "st.global.u32 [%rd3], %r2;").empty());
  CHECK(changed(guarded + "@!%p1 st.global.u32 [%rd3], %r2;", guarded + "st.global.u32 [%rd3], %r2;") == Lines{2});
  CHECK(changed("mov.u32 %r6, 0;\nst.global.u32 [%rd3], %r2;", "mov.u32 %r6, 0;\nst.global.u16 [%rd3], %r2;") ==
        Lines{1});
}

TEST_CASE("verify: scalars around the constants that the kernel compares with") {
  const auto body = [](const std::string& comparison) {
    return "mov.u32 %r6, 0;\nsetp." + comparison +
           " %p1, %r1, 4711;\n@%p1 mov.u32 %r6, 1;\nst.global.u32 [%rd3], %r6;\n";
  };
  CHECK(compare(body("gt.u32"), body("ge.u32")).verdict == Verdict::Different);
  CHECK(compare(body("gt.u32"), body("gt.s32")).verdict == Verdict::Different);
  CHECK(compare(body("gt.u32"), body("lt.u32")).verdict == Verdict::Different);
}

TEST_CASE("verify: unsigned indexes of 32 bits stay in the memory of a pointer") {
  const std::string body =
      "mul.wide.u32 %rd4, 0xfffffff0, 4;\nadd.s64 %rd4, %rd1, %rd4;\nst.global.u32 [%rd4], %r1;\n";
  CHECK(compare(body, body).verdict == Verdict::Equal);
}

TEST_CASE("verify: memory of the launch that is no longer cleared") {
  // Each thread counts in a word of its own, of shared memory or of its stack, that it clears first.
  const auto body = [](const std::string& space, const std::string& place, const std::string& clear) {
    return "mov.u64 %rd4, " + place +
           ";\nmul.wide.u32 %rd5, %r2, 4;\nand.b64 %rd5, %rd5, 1023;\nadd.s64 %rd4, %rd4, %rd5;\n" + clear + "ld." +
           space + ".u32 %r6, [%rd4];\nadd.u32 %r6, %r6, %r1;\nst." + space +
           ".u32 [%rd4], %r6;\nbar.sync 0;\nld." + space + ".u32 %r7, [%rd4];\nst.global.u32 [%rd3], %r7;\n";
  };
  for (const std::string space : {"shared", "local"}) {
    CAPTURE(space);
    const std::string before = space == "local" ? ".local .align 4 .b8 stack[1024];\n" : "";
    const std::string place = space == "local" ? "stack" : "tile";
    VerifyOptions options;
    options.block = exec::Dim3{32, 1, 1};
    const auto with = [&](const std::string& clear) { return before + body(space, place, clear); };
    const std::string clears = with("st." + space + ".u32 [%rd4], 0;\n");
    CHECK(compare(clears, clears, options).verdict == Verdict::Equal);
    const KernelVerdict gone = compare(clears, with(""), options);
    CHECK(gone.verdict == Verdict::Different);
    CHECK(gone.detail.find("registers, shared memory and stacks full of 0xa5 at first") != std::string::npos);
    // The other way around the first file's result is not determined.
    CHECK(compare(with(""), clears, options).verdict == Verdict::Inconclusive);
  }
}

TEST_CASE("verify: what the second file has and cannot be executed leaves the kernel open") {
  const std::string store = "st.global.u32 [%rd3], %r6;\n";
  const std::string sound = "setp.gt.u32 %p1, %r1, 3;\nmov.u32 %r6, 1;\n@%p1 add.u32 %r6, %r5, 1;\n";
  const std::string unknown = "setp.gt.u32 %p1, %r1, 3;\nmov.u32 %r6, 1;\n@%p1 addd.u32 %r6, %r5, 1;\n";
  CHECK(compare(sound + store, sound + store).verdict == Verdict::Equal);
  const KernelVerdict open = compare(sound + store, unknown + store);
  CHECK(open.verdict == Verdict::Inconclusive);
  CHECK(open.reason == "unsupported");
  CHECK(open.detail.find("the second file cannot be executed on some inputs: ") == 0);
  // A difference on other inputs is one all the same.
  CHECK(compare(sound + store, "setp.gt.u32 %p1, %r1, 3;\nmov.u32 %r6, 2;\n@%p1 addd.u32 %r6, %r5, 1;\n" + store)
            .verdict == Verdict::Different);
  // What the first has says nothing of the inputs that do not come to it.
  CHECK(compare(unknown + store, sound + store).verdict == Verdict::Equal);
}

TEST_CASE("verify: shared memory that no variable lies in") {
  const auto text = [](const std::string& offset) {
    return kHeader +
           ".visible .entry k(.param .u64 p, .param .u32 at)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<4>;\n"
           "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [at];\nmov.u32 %r3, 5;\nst.shared.u32 [%r1], %r3;\n"
           "ld.shared.u32 %r2, [%r1+" +
           offset + "];\nst.global.u32 [%rd1], %r2;\nret;\n}\n";
  };
  checkDiffers(text("0"), text("4"));
}

TEST_CASE("verify: what division by zero leaves is not compared, what it cannot change is") {
  const std::string store = "st.global.u32 [%rd3], %r6;\n", by = "div.u32 %r6, %r5, %r1;\n";
  const std::string isZero = "setp.eq.u32 %p1, %r1, 0;\n";
  // The quotient by zero is another one.
  CHECK(compare(by + store, by + isZero + "selp.b32 %r6, 7, %r6, %p1;\n" + store).verdict == Verdict::Equal);
  // As is that by others.
  CHECK(compare(by + store, by + isZero + "@!%p1 add.u32 %r6, %r6, 1;\n" + store).verdict == Verdict::Different);
  // By zero, but nobody looks at it: 5 and 7 are the kernels' own.
  const auto chosen = [&](const std::string& number) {
    return by + isZero + "selp.b32 %r6, " + number + ", %r6, %p1;\n" + store;
  };
  VerifyOptions zero;
  zero.scalars["n"] = 0;
  CHECK(compare(chosen("5"), chosen("5"), zero).verdict == Verdict::Equal);
  CHECK(compare(chosen("5"), chosen("7"), zero).verdict == Verdict::Different);
  // Every input divides by zero.
  const KernelVerdict none = compare(by + store, "mov.u32 %r6, 3;\n" + store, zero);
  CHECK(none.verdict == Verdict::Inconclusive);
  CHECK(none.detail.find("division by zero") != std::string::npos);
  // A remainder by zero that only one lane can tell from another, whatever lies where nothing was written.
  const auto isFive = [](const std::string& remainder) {
    return remainder + "setp.eq.u32 %p1, %r6, 5;\nselp.u32 %r6, 1, 0, %p1;\nst.global.u32 [%rd3], %r6;\n";
  };
  CHECK(compare(isFive("rem.u32 %r6, %r5, %r1;\n"),
                isFive("div.u32 %r7, %r5, %r1;\nmul.lo.u32 %r7, %r7, %r1;\nsub.u32 %r6, %r5, %r7;\n"))
            .verdict == Verdict::Equal);
}

TEST_CASE("verify: pointers that lie in memory" * doctest::test_suite("slow")) {
  const std::string follow = "ld.global.u64 %rd5, [%rd4];\nld.global.u32 %r6, [%rd5+8];\n";
  const auto table = [&](const std::string& change) {
    return "mul.wide.u32 %rd4, %r5, 8;\nadd.s64 %rd4, %rd4, %rd1;\n" + follow + change +
           "st.global.u32 [%rd5+8], %r6;\n";
  };
  CHECK(compare(table("add.u32 %r6, %r6, 1;\n"), table("add.u32 %r6, %r6, 1;\n")).verdict == Verdict::Equal);
  CHECK(compare(table("add.u32 %r6, %r6, 1;\n"), table("add.u32 %r6, %r6, 2;\n")).verdict == Verdict::Different);
  // Another entry's place.
  CHECK(compare(table(""), table("").replace(table("").find("%r5, 8"), 6, "%r2, 8")).verdict == Verdict::Different);
  // A list, to its end.
  const auto list = [](const std::string& next) {
    return "mov.u64 %rd5, %rd1;\nmov.u32 %r6, 0;\nL: ld.global.u32 %r7, [%rd5];\nadd.u32 %r6, %r6, %r7;\n"
           "ld.global.u64 %rd5, [%rd5+" +
           next + "];\nsetp.ne.u64 %p1, %rd5, 0;\n@%p1 bra L;\nst.global.u32 [%rd3+4096], %r6;\n";
  };
  CHECK(compare(list("8"), list("8")).verdict == Verdict::Equal);
  CHECK(compare(list("8"), list("16")).verdict == Verdict::Different);
}

TEST_CASE("verify: pointers and sizes in constants of the module") {
  const auto text = [](const std::string& add) {
    return kHeader +
           ".const .align 8 .b8 args[24];\n.visible .entry k()\n{\n\t.reg .b32 %r<9>;\n\t.reg .b64 "
           "%rd<9>;\nld.const.u64 %rd1, [args+8];\ncvta.to.global.u64 %rd2, %rd1;\nld.const.u32 %r1, "
           "[args+16];\nadd.u32 %r1, %r1, " +
           add + ";\nst.global.u32 [%rd2], %r1;\nret;\n}\n";
  };
  checkDiffers(text("%r1"), text("0"));  // the constant is not always 0
}

TEST_CASE("verify: textures and surfaces by name and by handle") {
  const auto text = [](const std::string& object, const std::string& at) {
    return kHeader +
           ".global .texref t;\n.visible .entry k(.param .u64 p, .param .u64 h)\n{\n\t.reg .f32 %f<9>;\n"
           "\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [h];\n"
           "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 1;\nmov.u32 %r3, " +
           at + ";\ntex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [" + object +
           ", {%r3, %r2}];\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd3, %rd1;\nst.global.f32 [%rd3], "
           "%f1;\nret;\n}\n";
  };
  for (const char* object : {"t", "%rd2"}) {
    CAPTURE(object);
    checkDiffers(text(object, "%r1"), text(object, "%r2"));
  }
}

TEST_CASE("verify: what is spent is limited, and the same each time") {
  const std::string body =
      "mov.u32 %r6, 3000;\nL: sub.u32 %r6, %r6, 1;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra L;\n"
      "st.global.u32 [%rd3], %r6;\n";
  VerifyOptions little;
  little.work = 0;
  const KernelVerdict all = compare(body, body), few = compare(body, body, little);
  CHECK(few.verdict == Verdict::Equal);
  CHECK(few.trials < all.trials);
  CHECK(few.trials >= 8);
  CHECK(few.trials == compare(body, body, little).trials);
}

TEST_CASE("verify: inputs on which the first file has no end, among others" * doctest::test_suite("slow")) {
  // It ends where the last bits of an element are 13.
  const std::string body =
      "ld.global.u32 %r6, [%rd1+4096];\nand.b32 %r6, %r6, 15;\nL: setp.eq.u32 %p1, %r6, 13;\n@!%p1 bra L;\n";
  const std::string tail = "st.global.u32 [%rd3], %r6;\n";
  CHECK(compare(body + tail, body + tail).verdict == Verdict::Equal);
  CHECK(compare(body + tail, body + "add.u32 %r6, %r6, 1;\n" + tail).verdict == Verdict::Different);
}

TEST_CASE("verify: a limit for the first inputs too") {
  // 300,000 instructions of one warp.
  const std::string body =
      "mov.u32 %r6, 100000;\nL: sub.u32 %r6, %r6, 1;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra L;\n"
      "st.global.u32 [%rd3], %r6;\n";
  VerifyOptions options;
  options.trials = 1;
  options.grid = options.block = exec::Dim3{1, 1, 1};
  const KernelVerdict low = compare(body, body, options);
  CHECK(low.dropped > 0);
  CHECK(low.lastDropped.find("step-limit") != std::string::npos);
  options.firstStepLimit = options.stepLimit;
  const KernelVerdict high = compare(body, body, options);
  CHECK(high.dropped == 0);
  CHECK(high.trials == 1);
}

}  // namespace ptxopt::verify
