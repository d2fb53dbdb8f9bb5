// A walk by dl_iterate_phdr() visits the objects loaded since the last time. The relocations of each are searched for
// dlsym, and its slot is written, on a page that is made writable where it was sealed.
#include "interpose/deep_binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

namespace ptxopt::interpose {
namespace {

#ifdef __x86_64__
constexpr unsigned kJumpSlot = R_X86_64_JUMP_SLOT, kGlobal = R_X86_64_GLOB_DAT;
#else
constexpr unsigned kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobal = R_AARCH64_GLOB_DAT;
#endif

std::atomic<bool> isUsed = false;

struct Search {
  void *ours, *theirs;
  unsigned long long* seen;      // how many objects had been loaded
  std::set<ElfW(Addr)>* looked;  // where those lie that were looked at
  ElfW(Addr) self;
};

// What an object has, as far as it is needed.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t callBytes = 0;
  const ElfW(Rela) * others = nullptr;
  std::size_t otherBytes = 0, relative = 0;  // the relative ones, which have no names, come first
};

Tables tablesOf(const dl_phdr_info& object) {
  Tables t;
  bool isRela = true;
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* d = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; d->d_tag != DT_NULL; ++d) {
      const auto at = d->d_un.d_ptr;
      if (d->d_tag == DT_SYMTAB) t.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
      if (d->d_tag == DT_STRTAB) t.names = reinterpret_cast<const char*>(at);
      if (d->d_tag == DT_JMPREL) t.calls = reinterpret_cast<const ElfW(Rela)*>(at);
      if (d->d_tag == DT_PLTRELSZ) t.callBytes = d->d_un.d_val;
      if (d->d_tag == DT_RELA) t.others = reinterpret_cast<const ElfW(Rela)*>(at);
      if (d->d_tag == DT_RELASZ) t.otherBytes = d->d_un.d_val;
      if (d->d_tag == DT_RELACOUNT) t.relative = d->d_un.d_val;
      if (d->d_tag == DT_PLTREL) isRela = d->d_un.d_val == DT_RELA;
    }
  }
  // Some objects have offsets instead of addresses: the kernel's.
  if (!isRela || reinterpret_cast<ElfW(Addr)>(t.symbols) < object.dlpi_addr) return {};
  return t;
}

// The dynamic linker writes to a part of an object no more once all is found there.
bool isSealed(const dl_phdr_info& object, std::uintptr_t page, std::uintptr_t bytes) {
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + p.p_vaddr, end = (begin + p.p_memsz) / bytes * bytes;
    if (p.p_type == PT_GNU_RELRO && page + bytes > begin && page + bytes <= end) return true;
  }
  return false;
}

void write(const dl_phdr_info& object, void** slot, void* value) {
  const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(slot) / bytes * bytes;
  void* const at = reinterpret_cast<void*>(page);
  if (::mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (isSealed(object, page, bytes)) ::mprotect(at, bytes, PROT_READ);
}

bool isWithin(const dl_phdr_info& object, const void* address) {
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = object.dlpi_phdr[i];
    const auto at = reinterpret_cast<ElfW(Addr)>(address) - object.dlpi_addr - p.p_vaddr;
    if (p.p_type == PT_LOAD && at < p.p_memsz) return true;
  }
  return false;
}

void redirect(const dl_phdr_info& object, const Search& s) {
  const Tables t = tablesOf(object);
  if (t.symbols == nullptr || t.names == nullptr) return;
  const auto look = [&](const ElfW(Rela) * first, std::size_t bytes, std::size_t skipped, unsigned kind) {
    for (std::size_t i = skipped; first != nullptr && i < bytes / sizeof *first; ++i) {
      const ElfW(Rela)& r = first[i];
      if (ELF64_R_TYPE(r.r_info) != kind) continue;
      if (std::string_view(t.names + t.symbols[ELF64_R_SYM(r.r_info)].st_name) != "dlsym") continue;
      auto** const slot = reinterpret_cast<void**>(object.dlpi_addr + r.r_offset);
      // Not looked up yet: it leads back into the object.
      if (*slot == s.theirs || (kind == kJumpSlot && isWithin(object, *slot))) write(object, slot, s.ours);
    }
  };
  look(t.calls, t.callBytes, 0, kJumpSlot);
  look(t.others, t.otherBytes, t.relative, kGlobal);
}

int lookAt(dl_phdr_info* object, std::size_t, void* data) {
  auto& s = *static_cast<Search*>(data);
  if (*s.seen == object->dlpi_adds) return 1;
  const bool isNew = s.looked->insert(object->dlpi_addr).second;
  if (isNew && object->dlpi_addr != s.self) redirect(*object, s);
  return 0;
}

}  // namespace

void noteFlags(int flags) {
  if ((flags & RTLD_DEEPBIND) != 0) isUsed = true;
}

void redirectDlsym(void* ours, void* theirs) {
  if (!isUsed || theirs == nullptr) return;
  static std::mutex mutex;
  static unsigned long long seen = 0;
  static auto* const looked = new std::set<ElfW(Addr)>;
  // One that is at it already is enough.
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  Dl_info self;
  if (dladdr(ours, &self) == 0) return;
  Search s{ours, theirs, &seen, looked, reinterpret_cast<ElfW(Addr)>(self.dli_fbase)};
  unsigned long long adds = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = object->dlpi_adds;
        return 1;
      },
      &adds);
  dl_iterate_phdr(lookAt, &s);
  seen = adds;
}

}  // namespace ptxopt::interpose
