// Reading facts on launches: a JSON file, and comments in PTX.
//
//     {"version": 1, "kernels": [{"kernel": "saxpy*", "block": [256], "grid": [{"most": 4096}],
//       "parameters": [{"index": 3, "least": 1, "most": 65536, "multiple": 4}, {"name": "stride", "value": 1},
//         {"index": 0, "align": 16, "noalias": true, "readonly": true, "bytes": 4096}]}]}
//
// A number is a number, or an object of `value`, or of `least`, `most` and `multiple`. Components of `block` and `grid`
// that are left out are not known. `align`, `noalias`, `readonly`
// and `bytes` say, for the memory that a 64-bit parameter leads to, what PointerFact has; `align` is a multiple of the
// address that is a power of two. A kernel is named as it is, or by a pattern with * and ?. All that matches counts
// together. In PTX, `//ptxopt:facts {...}` from a kernel's first word to its closing brace says the same of that
// kernel, without "kernel". `iterations` of a kernel, and of `loops` of it, named by a label (`"loops": [{"label":
// "$L__BB0_2", "iterations": 100}]`), are not promises.
// Errors: what is not JSON, words twice in an object, unknown words, numbers that no launch can have, parameters that
// are not there or are not integers, facts that contradict each other or the kernel's directives, patterns that no
// kernel matches, and labels that are not there. In a comment such a label says nothing: passes may have removed the
// loop.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace ptxopt::facts {

// Sets Module::facts from a file's text (empty: none) and from comments. What is wrong, ready to print; empty: nothing.
// `fileName` is that of the JSON text. With `ofOthers`, the file may speak of several texts: patterns that no kernel matches are
// put there and are not wrong.
std::string readFacts(std::string_view json, std::string_view fileName, Module& module,
                      std::vector<std::string>* ofOthers = nullptr);

// What holds of all launches of a kernel: by its types, its directives, and what devices can do.
KernelFacts factsOfAll(const Module& module, const Function& kernel);
// Pairs of parameters that lead to memory with no byte in common, as far as a launch shows that: one has no alias and is not
// null, and one may be written. Each pair once.
std::vector<std::pair<std::size_t, std::size_t>> pairsApart(const Module& module, const Function& kernel);
// Whether the user says more of it.
bool hasFacts(const Module& module, const Function& kernel);

}  // namespace ptxopt::facts
