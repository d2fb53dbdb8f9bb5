// Exchange between the threads of a block: each writes its own part, all meet, each reads any part, all meet again.
// Only in code that all threads reach together. A nested exchange takes another memory.
#include "phases.h"

#include "memory.h"
#include "statements.h"

namespace kernels {

void emitBarrier(Body& body) {
  Random& random = body.random;
  switch (random.below(8)) {
    case 0: body.line("barrier.sync 0;"); break;
    case 1: body.line("barrier.sync.aligned {};", random.below(16)); break;
    case 2: body.line("bar.sync {};", random.below(16)); break;
    case 3: {
      // Barriers count whole warps.
      const int threads = (body.file.launch.threads() + 31) / 32 * 32;
      body.line("bar.sync {}, {};", random.below(16), threads);
      break;
    }
    case 4: {
      const Reg p = body.source(Class::Pred);
      const std::string in = body.maybeNot(p);
      if (random.chance(50)) {
        const Reg to = body.temporary(Class::I32);
        body.line("bar.red.popc.u32 {}, {}, {};", body.name(to), random.below(16), in);
        body.regs.keep(to, true);
      } else {
        const Reg to = body.temporary(Class::Pred);
        const char* operation = random.pick({"and", "or"});
        body.line("bar.red.{}.pred {}, {}, {};", operation, body.name(to), random.below(16), in);
        body.regs.keep(to, true);
      }
      break;
    }
    default: body.line("bar.sync 0;"); break;
  }
}

void emitExchange(Body& body) {
  Random& random = body.random;
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < body.exchanges.size(); ++i)
    if (!body.exchanges[i].busy) usable.push_back(i);
  if (usable.empty()) return;
  const std::size_t which = random.pick(usable);
  const std::string ownName = body.exchanges[which].own;
  const auto own = [&]() -> Region& {
    for (Region& region : body.regions)
      if (region.name == ownName) return region;
    return body.regions.front();
  };

  for (int i = random.between(1, 3); i > 0; --i) {
    const Region region = own();
    const int width = random.pick({4, 4, region.size >= 8 ? 8 : 4, 1});
    const Address address = addressIn(body, region, width);
    storeTo(body, address, width);
  }
  emitBarrier(body);
  body.exchanges[which].busy = true;
  own().writable = false;
  body.regions.push_back(body.exchanges[which].all);
  ++body.depth;
  body.regs.beginScope();
  for (int i = random.between(1, 3); i > 0; --i) {
    const Region region = body.regions.back();
    const int width = random.pick({4, 4, region.size >= 8 ? 8 : 4, 2});
    const Address address = addressIn(body, region, width);
    loadFrom(body, address, width, false);
  }
  emitStatements(body, random.between(0, 5));
  body.foldSome(60);
  body.regs.endScope();
  --body.depth;
  body.regions.pop_back();
  own().writable = true;
  body.exchanges[which].busy = false;
  emitBarrier(body);
}

}  // namespace kernels
