// The analyses of a whole module, by their type. Made while no function is worked on; any number of threads may read them.
#pragma once

#include <cstdlib>
#include <memory>
#include <typeindex>
#include <unordered_map>
#include <utility>

namespace ptxopt {

class ModuleAnalyses {
 public:
  template <typename Analysis>
  void put(Analysis analysis) {
    made_[typeid(Analysis)] = std::make_shared<const Analysis>(std::move(analysis));
  }
  // Null: it was not made.
  template <typename Analysis>
  const Analysis* find() const {
    const auto at = made_.find(typeid(Analysis));
    return at == made_.end() ? nullptr : static_cast<const Analysis*>(at->second.get());
  }
  // One that the caller's row in passes.def asks for.
  template <typename Analysis>
  const Analysis& get() const {
    const Analysis* const found = find<Analysis>();
    if (found == nullptr) std::abort();
    return *found;
  }

 private:
  std::unordered_map<std::type_index, std::shared_ptr<const void>> made_;
};

}  // namespace ptxopt
