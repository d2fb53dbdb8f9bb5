// `ptxopt verify A B --records FILE`: both files on what a program gave its kernels, in place of made-up inputs.
#pragma once

#include <string>
#include <vector>

#include "verify/verify.h"

namespace ptxopt::tool {

// A verdict for each kernel of `a` that the record has launches of. Launches on which `a` fails are dropped. Throws
// record::RecordError.
std::vector<verify::KernelVerdict> verifyRecords(const Module& a, const Module& b, const std::string& path,
                                                 const verify::VerifyOptions& options);

}  // namespace ptxopt::tool
