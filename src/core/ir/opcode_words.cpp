#include "ir/opcode_words.h"

namespace ptxopt {

OpcodeWords::OpcodeWords(const Module& module, const Instruction& i) : op_(module.form(i).op) {
  std::string_view rest = module.printedOpcode(i);
  for (;;) {
    const std::size_t dot = rest.find('.');
    words_.emplace_back(rest.substr(0, dot));
    if (dot == std::string_view::npos) return;
    rest.remove_prefix(dot + 1);
  }
}

OpcodeFields OpcodeWords::fields(std::size_t index) const {
  const std::string_view word = words_[index + 1];
  return decodeFields(op_, {&word, 1});
}

void OpcodeWords::setVector(unsigned width) {
  for (std::size_t k = 0; k < size(); ++k) {
    if (fields(k).vector == 1) continue;
    words_[k + 1] = width == 1 ? std::string() : "v" + std::to_string(width);
    return;
  }
}

std::string OpcodeWords::spelling() const {
  std::string text;
  for (const std::string& word : words_) {
    if (word.empty()) continue;
    if (!text.empty()) text += '.';
    text += word;
  }
  return text;
}

}  // namespace ptxopt
