// The process that libptxopt_jit.so asks to optimize an image (src/execute/jit/protocol.h): `ptxopt jit --module WORDS...`.
//
// Nobody waits for it but the library, for a while; it ends by itself after ten minutes of CPU time.
#pragma once

#include <span>
#include <string>

#include "wrapper/optimize_input.h"

namespace ptxopt::jit_process {

// `words`: KEY=VALUE. `settings`: all else that the result depends on. The exit code.
int answerModule(std::span<char* const> words, const wrapper::WrapperOptions& options, const std::string& settings);

}  // namespace ptxopt::jit_process
