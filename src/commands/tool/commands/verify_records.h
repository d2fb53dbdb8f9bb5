// `ptxopt verify A B --records FILE`: both files on what a program gave its kernels, instead of made-up inputs.
#pragma once

#include <string>
#include <vector>

#include "verify/verify.h"

namespace ptxopt::tool {

struct RecordFile {
  std::string path;
  uint64_t mostBytes = 0;  // of record::Archive
};

// A verdict for each kernel of `a` that the record has launches of. Launches on which `a` fails are dropped. Throws
// record::RecordError.
std::vector<verify::KernelVerdict> verifyRecords(const Module& a, const Module& b, const RecordFile& file,
                                                 const verify::VerifyOptions& options);

}  // namespace ptxopt::tool
