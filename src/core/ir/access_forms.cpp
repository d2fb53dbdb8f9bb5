// A form is plain where its decoded fields say nothing beyond those that are known. The new spelling is made from the
// words of the old one, without `.weak`.
#include "ir/access_forms.h"

#include <vector>

namespace ptxopt {
namespace {

constexpr unsigned kMostBits = 128;

bool isPlain(const OpcodeForm& form) {
  constexpr unsigned kSaid = field::Space | field::Order | field::Cache | field::Flag | field::Vector;
  constexpr uint32_t kNonCoherent = 1u << static_cast<unsigned>(ModifierFlag::NonCoherent);
  if (form.op != Op::Ld && form.op != Op::St) return false;
  const unsigned bits = info(form.type).bits;
  return form.hasOnly(kSaid) && (form.order == MemoryOrder::None || form.order == MemoryOrder::Weak) &&
         form.cache != CacheOperator::NoCache && form.cache != CacheOperator::WriteThrough && form.typeCount == 1 &&
         bits >= 8 && bits <= 64 && (form.flags & ~kNonCoherent) == 0;
}

// Without the word that says what there is without it.
std::vector<std::string_view> wordsOf(std::string_view opcode) {
  std::vector<std::string_view> words = opcodeParts(opcode);
  std::erase(words, "weak");
  return words;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += '.';
    text += word;
  }
  return text;
}

}  // namespace

std::string nonCoherentLoad(std::string_view opcode, const OpcodeForm& form) {
  if (form.op != Op::Ld || form.space != StateSpace::Global || !isPlain(form) ||
      form.has(ModifierFlag::NonCoherent) || form.vector * info(form.type).bits > kMostBits)
    return {};
  // `.lu` has no such form.
  const bool isCached = form.cache != CacheOperator::None;
  if (isCached && form.cache != CacheOperator::AllLevels && form.cache != CacheOperator::Global &&
      form.cache != CacheOperator::Streaming)
    return {};
  std::vector<std::string_view> words = wordsOf(opcode);
  words.insert(words.begin() + 2 + isCached, "nc");
  return joined(words);
}

std::string vectorAccess(std::string_view opcode, const OpcodeForm& form, unsigned lanes) {
  if (!isPlain(form) || form.vector != 1 || lanes * info(form.type).bits > kMostBits ||
      (form.space != StateSpace::Global && form.space != StateSpace::Shared && form.space != StateSpace::SharedCta))
    return {};
  std::vector<std::string_view> words = wordsOf(opcode);
  words.insert(words.end() - 1, lanes == 2 ? "v2" : "v4");
  return joined(words);
}

}  // namespace ptxopt
