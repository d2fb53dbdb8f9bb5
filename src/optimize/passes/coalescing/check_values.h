// The partition of names that checkCoalescing carries along, as classes with a number each.
//
// Inside a block a class is a value: numbers are not used again, so terms over them (parts, packs, selections) are
// found again by looking them up. At the end of a block only what several live names share is left.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ptxopt::coalescing {

using Name = uint32_t;
using Class = uint32_t;

// What is known at the start of a block.
struct KnownNames {
  struct Member {
    Name name;
    Class in;
    friend bool operator==(const Member&, const Member&) = default;
  };
  // Class `part` is part `index` of `count` of class `whole`.
  struct Part {
    Class whole;
    uint32_t count, index;
    Class part;
    friend auto operator<=>(const Part&, const Part&) = default;
  };

  bool isReached = false;
  std::vector<Member> members;  // sorted by name; classes are numbered as they come up
  std::vector<Part> parts;      // sorted

  // Takes over what control brings in from elsewhere. Whether that changed anything.
  bool meet(const KnownNames& other);
};

class NameClasses {
 public:
  // Names from `constants` on are constants.
  NameClasses(std::size_t names, Name constants) : class_(names), epochOf_(names), constants_(constants) {}

  void load(const KnownNames& known);
  // What is known of the names `live`, and of constants that share a class with one of them.
  KnownNames save(std::span<const Name> live);

  Class operator[](Name n);
  void set(Name n, Class c);
  Class fresh() { return next_++; }

  // Terms.
  Class part(Class whole, uint32_t count, uint32_t index);
  Class pack(std::span<const Class> parts);
  // What a register holds that had `otherwise` and is given `source` where `predicate` is true.
  Class select(Class predicate, Class source, Class otherwise);

 private:
  static constexpr std::size_t kMostParts = 4;
  struct Selection {
    Class predicate, source, otherwise;
    friend auto operator<=>(const Selection&, const Selection&) = default;
  };

  std::vector<Class> class_;       // by name; holds when epochOf_ says so, otherwise a class of its own
  std::vector<uint32_t> epochOf_;  // by name
  uint32_t epoch_ = 0;
  Name constants_;
  std::vector<Name> usedConstants_;
  Class next_ = 0;
  std::map<std::array<uint32_t, 3>, Class> parts_;               // whole, count, index
  std::map<std::array<uint32_t, kMostParts + 1>, Class> packs_;  // count, parts
  std::map<Selection, Class> selections_;
  std::map<Class, Selection> selectionOf_;
};

}  // namespace ptxopt::coalescing
