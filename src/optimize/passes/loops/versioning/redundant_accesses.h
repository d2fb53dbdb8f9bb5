// Which accesses of a loop of one block can go, if certain groups of accesses have no byte in common.
//
// Loads      one reads what an access before it in the round, or in the round before, read or wrote (its source), if no store
//            between the two may write there. A load of an address that does not vary may be its own source: then it is
//            read once before the loop. What is read in the first round without a source there is read before the loop.
// Stores     those to one address that does not vary, in each round, if no load of the loop reads it that has no source, and
//            nothing else may read or write it. What the last round stores last is stored after the loop.
// A store of another group that stands between, and any access of another group for a store that goes, makes a pair of
// groups that must be apart.
// Declines: accesses under a guard, vectors, values that are not a whole register of the access's size or, of narrow
// loads, of one type. A load whose source stands in the same round with no pair between stays: ptxas removes it.
#pragma once

#include <set>
#include <utility>

#include "passes/loops/versioning/loop_accesses.h"
#include "passes/memory/load_order.h"

namespace ptxopt {

struct RedundantLoad {
  std::size_t load = 0, source = 0;  // of the accesses
  bool isRoundBefore = false;        // the source is that of the round before
};

// Stores of one address that does not vary, the last one last.
struct InvariantStores {
  std::vector<std::size_t> stores;
};

class RedundantAccesses {
 public:
  using Pairs = std::set<std::pair<std::size_t, std::size_t>>;  // of groups, the lesser first

  RedundantAccesses(const Function& f, PassContext& context, const LoopAccesses& accesses, const LoadOrder& order);

  const std::vector<RedundantLoad>& loads() const { return loads_; }
  const std::vector<InvariantStores>& stores() const { return stores_; }
  // What must be apart for all of them.
  const Pairs& pairs() const { return pairs_; }
  bool empty() const { return loads_.empty() && stores_.empty(); }

  // The register that an access loads or stores, if that is all it does.
  RegId value(std::size_t access) const { return values_[access]; }

 private:
  enum class Step : uint8_t { Goes, Found, Fails };

  RegId valueOf(const LoopAccess& access, const LoadOrder& order) const;
  bool fills(std::size_t access) const;
  bool fits(std::size_t source, std::size_t load) const;
  bool mayBeApart(std::size_t a, std::size_t b) const;
  bool need(std::size_t a, std::size_t b, Pairs& pairs) const;
  void findLoad(std::size_t load);
  Step pass(std::size_t other, std::size_t load, bool isRoundBefore, Pairs& pairs) const;
  void findStores(std::size_t store);
  bool canGo(const std::vector<std::size_t>& stores, Pairs& pairs) const;

  const Function& f_;
  PassContext& context_;
  ScevExpressions& e_;
  const LoopAccesses& all_;
  std::vector<RegId> values_;    // by access
  std::vector<bool> hasRange_;   // by group
  std::vector<bool> isSourced_;  // by access: a load that has a source
  std::vector<bool> isTaken_;    // by access: a store that was looked at
  std::vector<RedundantLoad> found_, loads_;
  std::vector<Pairs> foundPairs_;  // of found_
  std::vector<InvariantStores> stores_;
  Pairs pairs_;
};

}  // namespace ptxopt
