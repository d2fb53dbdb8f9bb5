// Each message is split into id and text, its function is taken from its words or its line, and what names none waits
// for the end. Notes are then sorted, and compared without digits.
#include "ptxas/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <variant>

#include "ptxas/cubin.h"
#include "ptxas/function_places.h"
#include "ptxas/measures.h"
#include "sass/decode.h"

namespace ptxopt::ptxas {
namespace {

struct NoteInfo {
  unsigned number;
  std::string_view part, brief, word;
  sass::Opcode opcode;
};
constexpr NoteInfo kNotes[] = {
#define PTXOPT_NOTE(number, part, brief, word, opcode) {number, part, brief, word, sass::Opcode::opcode},
#include "ptxas/notes.def"
};
constexpr std::string_view kNoNotes[] = {
#define PTXOPT_NO_NOTE(beginning) beginning,
#include "ptxas/notes.def"
};
// Without a number, these are more than figures.
constexpr std::string_view kAdvice[] = {"Advisory", "Potential "};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

const NoteInfo* infoOf(std::string_view id, std::string_view text) {
  unsigned number = 0;
  if (!id.starts_with('C')) return nullptr;
  std::from_chars(id.data() + 1, id.data() + id.size(), number);
  const auto it = std::ranges::find_if(kNotes, [&](const NoteInfo& info) {
    return info.number == number && text.find(info.part) != std::string_view::npos;
  });
  return it == std::end(kNotes) ? nullptr : it;
}

struct Message {
  Note note;
  uint32_t line = 0;  // of the PTX; 0: it says none
};

// "ptxas FILE, line 12; warning : TEXT" or "ptxas info    : (C7508) TEXT".
std::optional<Message> messageOf(std::string_view line) {
  constexpr std::string_view kLine = ", line ";
  if (!line.starts_with("ptxas ")) return std::nullopt;
  Message message;
  bool isWarning = false;
  std::size_t at = 0;
  for (const std::string_view kind : {"warning", "info"}) {
    isWarning = kind == "warning";
    // A path may have anything in it, but the text comes after the first blank before the colon.
    for (at = line.find(kind); at != std::string_view::npos; at = line.find(kind, at + 1)) {
      const std::size_t colon = line.find_first_not_of(' ', at + kind.size());
      const std::string_view before = line.substr(0, at);
      if (colon == std::string_view::npos || line[colon] != ':' || !(before == "ptxas " || before.ends_with("; ")))
        continue;
      if (const std::size_t place = before.rfind(kLine); place != std::string_view::npos)
        std::from_chars(before.data() + place + kLine.size(), before.data() + before.size(), message.line);
      at = colon + 1;
      break;
    }
    if (at != std::string_view::npos) break;
  }
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = line.substr(std::min(line.find_first_not_of(' ', at), line.size()));
  message.note.id = isWarning ? "warning" : "info";
  const std::size_t end = text.find(')');
  const bool hasNumber = text.starts_with("(C") && end != std::string_view::npos && end > 2 &&
                         std::ranges::all_of(text.substr(2, end - 2), isDigit);
  if (hasNumber) {
    message.note.id = text.substr(1, end - 1);
    text.remove_prefix(std::min(text.find_first_not_of(' ', end + 1), text.size()));
  }
  const auto begins = [&](std::string_view beginning) { return text.starts_with(beginning); };
  if (std::ranges::any_of(kNoNotes, begins)) return std::nullopt;
  if (!isWarning && !hasNumber && std::ranges::none_of(kAdvice, begins)) return std::nullopt;
  message.note.text = text;
  return message;
}

// Numbers of lines are another one when something above is.
void removeLines(std::string& text) {
  for (const std::string_view before : {" in around line ", " in line "}) {
    const std::size_t at = text.find(before);
    if (at == std::string::npos) continue;
    std::size_t end = at + before.size();
    while (end < text.size() && isDigit(text[end])) ++end;
    text.erase(at, end - at);
  }
}

// The function that the text names: in quotes, as the last word, or after "entry" or "function". Its name, and what is said to introduce it, go.
std::optional<std::string> takeName(std::string& text, const Measures& measures) {
  const auto take = [&](std::size_t begin, std::size_t end, std::size_t quote) -> std::optional<std::string> {
    std::string name = text.substr(begin, end - begin);
    if (measures.find(name) == nullptr) return std::nullopt;
    begin -= quote;
    for (const std::string_view words : {" in the function ", " for the function ", " in function ",
                                         " for function ", " function ", " for entry ", " entry "})
      if (std::string_view(text).substr(0, begin).ends_with(words)) {
        begin -= words.size();
        break;
      }
    text.erase(begin, end + quote - begin);
    return name;
  };
  for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 1)) {
    const std::size_t end = text.find('\'', at + 1);
    if (end == std::string::npos) break;
    if (auto name = take(at + 1, end, 1)) return name;
  }
  const std::size_t last = text.find_last_of(' ');
  if (last == std::string::npos) return std::nullopt;
  if (auto name = take(last + 1, text.size(), 0)) return name;
  for (const std::string_view word : {" entry ", " function "})
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const std::size_t begin = at + word.size();
      if (auto name = take(begin, std::min(text.find_first_of(" ,", begin), text.size()), 0)) return name;
    }
  return std::nullopt;
}

class Attribution {
 public:
  Attribution(std::string_view ptx, std::string_view cubin, Measures& measures)
      : places_(functionPlaces(ptx)), cubin_(cubin), measures_(measures) {}

  void add(Message message) {
    removeLines(message.note.text);
    if (const auto name = takeName(message.note.text, measures_)) return addTo(*name, message.note);
    if (message.line != 0)
      for (const FunctionPlace& place : places_)
        if (place.firstLine <= message.line && message.line <= place.lastLine && has(place.name))
          return addTo(place.name, message.note);
    ++ofNobody_[{message.note.id, message.note.text}];
  }

  void finish() {
    for (const auto& [note, times] : ofNobody_) {
      const NoteInfo* const info = infoOf(note.first, note.second);
      const std::vector<std::string> names = candidates(info);
      const bool isEachs = names.size() == times;
      // A warning of a pragma is said again for each copy of it, which is not worse.
      const uint32_t said = info == nullptr ? 1 : times;
      for (const std::string& name : names) addTo(name, {note.first, note.second, isEachs ? 0 : said});
    }
    for (FunctionMeasures& f : measures_.functions) {
      std::ranges::sort(
          *f.notes, [](const Note& a, const Note& b) { return std::tie(a.id, a.text) < std::tie(b.id, b.text); });
      const auto again = std::ranges::unique(*f.notes);
      f.notes->erase(again.begin(), again.end());
    }
  }

 private:
  bool has(const std::string& name) const { return measures_.find(name) != nullptr; }

  void addTo(const std::string& name, const Note& note) {
    std::ranges::find(measures_.functions, name, &FunctionMeasures::name)->notes->push_back(note);
  }

  // What a message that names no function may be about: functions that have the opcode, and whose machine code does not
  // show that they are not meant; otherwise all kernels.
  std::vector<std::string> candidates(const NoteInfo* info) const {
    std::vector<std::string> with, meant, kernels;
    for (const FunctionMeasures& f : measures_.functions)
      if (f.isKernel) kernels.push_back(f.name);
    if (info == nullptr || info->word.empty()) return kernels;
    const std::set<std::string> innocent = functionsWith(info->opcode);
    for (const FunctionPlace& place : places_) {
      if (!mentions(place, info->word) || !has(place.name)) continue;
      with.push_back(place.name);
      if (!innocent.contains(place.name)) meant.push_back(place.name);
    }
    return !meant.empty() ? meant : !with.empty() ? with : kernels;
  }

  std::set<std::string> functionsWith(sass::Opcode opcode) const {
    std::set<std::string> names;
    if (opcode == sass::Opcode::Unknown) return names;
    const auto read = readCubinCode(cubin_);
    const auto* const code = std::get_if<CubinCode>(&read);
    if (code == nullptr) return names;
    const sass::Decoder decoder(code->architecture);
    for (const FunctionCode& f : code->functions) {
      const std::vector<sass::Instruction> instructions = decoder.decode(f.text);
      if (std::ranges::find(instructions, opcode, &sass::Instruction::opcode) != instructions.end())
        names.insert(f.name);
    }
    return names;
  }

  const std::vector<FunctionPlace> places_;
  const std::string_view cubin_;
  Measures& measures_;
  std::map<std::pair<std::string, std::string>, uint32_t> ofNobody_;  // how often each was said
};

// What two notes that say the same have in common: counts in them may differ.
std::string keyOf(const Note& note) {
  std::string key = note.text;
  std::erase_if(key, isDigit);
  return key;
}

}  // namespace

std::string Note::brief() const {
  const NoteInfo* const info = infoOf(id, text);
  return info == nullptr ? text : std::string(info->brief);
}

void addNotes(std::string_view messages, std::string_view ptx, std::string_view cubin, Measures& measures) {
  for (FunctionMeasures& f : measures.functions) f.notes.emplace();
  std::optional<Attribution> attribution;
  while (!messages.empty()) {
    std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(messages.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto message = messageOf(line);
    if (!message) continue;
    if (!attribution) attribution.emplace(ptx, cubin, measures);
    attribution->add(*std::move(message));
  }
  if (attribution) attribution->finish();
}

std::vector<Note> newNotes(const FunctionMeasures& before, const FunctionMeasures& after) {
  std::vector<Note> added;
  if (!before.notes || !after.notes) return added;
  std::map<std::string, uint32_t> had;  // how often those that are shared are said
  for (const Note& note : *before.notes) had[keyOf(note)] = note.times;
  for (const Note& note : *after.notes) {
    const auto it = had.find(keyOf(note));
    if (it == had.end() || (note.times > it->second && it->second != 0)) added.push_back(note);
  }
  return added;
}

std::string idsOf(const std::vector<Note>& notes) {
  std::string out;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (i != 0 && notes[i].id == notes[i - 1].id) continue;
    out += (out.empty() ? "" : ",") + notes[i].id;
  }
  return out;
}

}  // namespace ptxopt::ptxas
