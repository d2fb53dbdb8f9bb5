// What the files of asynchronous copies share with each other.
#pragma once

#include "exec/instructions/async_copy.h"

namespace ptxopt::exec {

AsyncCopies& copiesOf(Warp& w);
// Key in AsyncCopies::threads.
uint64_t copyingThread(Warp& w, unsigned lane);
// The source has been read for good: faults when it is not what it was.
void checkSource(BulkCopy& c, unsigned lane);
// The bytes arrive, the source being read at the latest now.
void arriveBulk(BulkCopy& c, unsigned lane);

// cp.async.bulk and cp.reduce.async.bulk, all of their modifiers untaken.
void bindBulk(Binder& b);

}  // namespace ptxopt::exec
