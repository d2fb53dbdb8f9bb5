// What the files of asynchronous copies share with each other.
#pragma once

#include "exec/instructions/async_copy.h"

namespace ptxopt::exec {

AsyncCopies& copiesOf(Warp& w);
// Key in AsyncCopies::threads.
uint64_t copyingThread(Warp& w, unsigned lane);
// The last look at the source of a copy: faults if its bytes changed since the copy was issued.
void checkSource(BulkCopy& c, unsigned lane);
// The bytes arrive, the source being read at the latest now.
void arriveBulk(BulkCopy& c, unsigned lane);

// cp.async.bulk and cp.reduce.async.bulk, all of their modifiers untaken.
void bindBulk(Binder& b);

}  // namespace ptxopt::exec
