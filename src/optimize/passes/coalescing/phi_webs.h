// The phis of a function with the copies that make them, joined class by class.
//
// Where different values of a register meet there is a phi. Its class: the phi, what the copies that write its
// sources read, and what copies at the start of its block make of it; so the copies that leaving SSA form left, on
// either side of the phi. First each class is joined as a whole if no two of its members are in each other's way,
// those of deeper loops first. Then the others copy by copy, those in deeper loops first, which run most often.
// (Congruence classes of Sreedhar et al., "Translating out of static single assignment form", 1999, method III,
// with the value-based interference of Boissinot et al., 2009, section III; by live ranges alone with
// Coalescer::Limits::byRangeOnly.)
// Three kinds of copies stay, because without them ptxas was seen to make other code:
//   shared-value   the value was copied to another register before, in the text: that one takes its place, so that
//                  the order of first definitions stays
//   critical-edge  it stands before a branch, not all ways from there need what it writes, and its source is read
//                  elsewhere, too
//   irreducible    the phi is in a loop with several entries, or in one inside that
// Cost: that of the joins, and for each class the live ranges of its members but for the largest.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "passes/coalescing/coalescer.h"
#include "passes/coalescing/copy_report.h"

namespace ptxopt {

class PhiWebs {
 public:
  struct Class {
    CopyValues::Number phi;
    BlockId block;
    std::vector<const Copy*> copies;  // in the order in which they are tried
    bool isWhole = false;             // all were joined together
    std::size_t kept = 0;             // copies that stay
    std::string_view why;             // the first of these does
  };

  // `coalescer` knows the copies of the function as it is now.
  PhiWebs(PassContext& context, Coalescer& coalescer);

  // Whether anything was joined; the text is as it was.
  bool join();
  // Those with a copy at least, deeper loops first.
  const std::vector<Class>& classes() const { return classes_; }
  // What became of each copy of a class, once. Those kept by a rule are counted by its name.
  void report(CopyReport& report, std::map<std::string_view, uint64_t>& byRule);
  RegId registerOf(const Class& c) const { return coalescer_.values().registerOf(c.phi); }

 private:
  void findClasses();
  void sortClasses();
  bool isSecond(const Copy& c);
  bool isInIrreducible(BlockId b) const;
  std::string_view keptByRule(const Class& of, const Copy& c);
  bool joinWhole(Class& c);
  bool joinEach(Class& c);

  PassContext& context_;
  Coalescer& coalescer_;
  std::vector<const Copy*> firstReader_;  // by value: the first copy of it in the text
  std::vector<Class> classes_;
};

}  // namespace ptxopt
