// What ptxas makes of the input of the guard, of outputs and of tries: of as little of each text as will do.
//
// Kernels that are not affected are left out where they are a part of the text that counts (cut.h); what is known of a kernel
// is not asked again (kernel_answers.h). Functions that no kernel reaches have figures as relocatable code only: where some of them
// were changed, that is made of the whole text, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptxas/assemble.h"
#include "ptxopt/ptxopt.h"
#include "support/bit_vector.h"

namespace ptxopt::guard {

class Figures {
 public:
  // `outcomes` are those of the first result. Where the figures are of the very call that makes the code, functions that no
  // kernel reaches have none.
  Figures(std::string_view input, const std::vector<FunctionOutcome>& outcomes, std::string architecture,
          ptxas::PtxasSettings ptxas, bool isWholeCall);

  // These two may be asked for at the same time.
  ptxas::Assembly ofInput() const;
  ptxas::Assembly ofOutput(const Result& result);
  // For results with some functions that are tried: the figures of these, at least.
  struct Try {
    Result result;
    BitVector isTried;  // by Result::outcomesAfter
  };
  std::vector<ptxas::Assembly> ofTries(const std::vector<Try>& tries);

  // What ptxas made of the whole of this text, if it was to be kept and was made.
  std::optional<ptxas::PtxasOutput> takeOutputOf(std::string_view text);

 private:
  ptxas::Assembly ofTry(const Try& its);
  std::vector<ptxas::Assembly> ofTriesTogether(const std::vector<Try>& tries) const;
  void chooseCut();
  bool changedApart() const;
  bool isByKernel() const;
  ptxas::Assembly measure(std::string_view text) const;
  void addRelocatable(std::string_view text, ptxas::Measures& measures) const;
  ptxas::Assembly measureKernels(std::string_view text, const std::vector<FunctionOutcome>& functions,
                                 const BitVector& isLeftOut, bool mayCut) const;
  BitVector leftOutOf(const std::vector<FunctionOutcome>& functions) const;
  void keepOutput(const std::string& text, ptxas::Assembly& assembly);

  const std::string_view input_;
  const std::vector<FunctionOutcome> outcomes_;  // of the first result
  const std::string architecture_;
  const ptxas::PtxasSettings ptxas_;
  bool asksRelocatable_;
  BitVector isLeftOut_;  // kernels that are not assembled, by function
  bool cutsOutput_ = false;
  std::vector<std::pair<std::string, ptxas::PtxasOutput>> made_;  // of texts that may be the output
};

}  // namespace ptxopt::guard
