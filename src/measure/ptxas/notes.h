// What ptxas says of functions besides figures: that it ignored or serialized something, warnings, advice.
//
// A note belongs to the function that the message names, by its name or by the line of the PTX. Some messages name none
// (notes.def): then they are of the functions that have what is spoken of, if as many are said; otherwise of all of these
// together. What nothing is known of is of all kernels of the module. Warnings that repeat a figure, or are about how ptxas
// was called, are not notes.
// Cost: linear in the messages; where there is a note, in the PTX too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::ptxas {

struct FunctionMeasures;
struct Measures;

struct Note {
  std::string id;    // "C7508"; "warning" or "info" of what has no number
  std::string text;  // without numbers of lines and the function's own name
  uint32_t times =
      0;  // 0: it is of this function; otherwise of several together, and is said so often (1 of what has no number)

  // In a few words where the table has some; otherwise the text.
  std::string brief() const;
  friend bool operator==(const Note&, const Note&) = default;
};

// Sets the notes of all functions: of each that has none to an empty list. `cubin` is what was made of `ptx`.
void addNotes(std::string_view messages, std::string_view ptx, std::string_view cubin, Measures& measures);

// The notes of `after` that `before` lacks: none where the notes of a side are not known. Among those that functions
// have together, also those that occur more often than before.
std::vector<Note> newNotes(const FunctionMeasures& before, const FunctionMeasures& after);

// "C7508,C7510": the numbers, each once.
std::string idsOf(const std::vector<Note>& notes);

}  // namespace ptxopt::ptxas
