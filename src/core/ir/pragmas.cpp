#include "ir/pragmas.h"

#include <cstdlib>
#include <string>

namespace ptxopt {
namespace {

constexpr std::string_view kUsedBytesMask = "used_bytes_mask";
constexpr std::string_view kNounroll = ".pragma \"nounroll\";";

}  // namespace

bool isNounroll(const Module& module, const Instruction& i) {
  return i.kind == InstrKind::Pragma && module.text(NameId(i.payload)) == kNounroll;
}

bool areAllNounroll(const Module& module, const Function& f) {
  const auto saysSo = [&](uint64_t begin, uint64_t end) {
    return begin < end && module.source.substr(begin, end - begin).find("\"nounroll\"") != std::string_view::npos;
  };
  uint64_t at = 0;
  for (const Function& g : module.functions) {
    if (!g.hasBody) continue;
    if (saysSo(at, g.source.begin) || (&g == &f && saysSo(g.source.begin, g.body.begin))) return true;
    at = g.body.end;
  }
  return saysSo(at, module.source.size());
}

bool isUsedBytesMask(const Module& module, const Instruction& i) {
  return i.kind == InstrKind::Pragma &&
         module.text(NameId(i.payload)).find(kUsedBytesMask) != std::string_view::npos;
}

InstrId usedBytesMaskOf(const Module& module, const Function& f, InstrId id) {
  InstrId p = f[id].previous;
  while (p.valid() && f[p].kind == InstrKind::Loc) p = f[p].previous;
  return p.valid() && isUsedBytesMask(module, f[p]) ? p : InstrId();
}

void eraseWithPragma(const Module& module, Function& f, InstrId id) {
  if (const InstrId pragma = usedBytesMaskOf(module, f, id); pragma.valid()) f.erase(pragma);
  f.erase(id);
}

uint64_t usedBytes(const Module& module, const Instruction& pragma) {
  const std::string text(module.text(NameId(pragma.payload)));
  const std::size_t at = text.find(kUsedBytesMask);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + kUsedBytesMask.size(), nullptr, 0);
}

}  // namespace ptxopt
