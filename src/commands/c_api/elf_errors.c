/* The errors of libelf, in the place of its own file for them: that is compiled for programs, not for shared libraries.
 * Nothing of the cubins that ptxas writes is an error. */
#include <stdio.h>

static _Thread_local int lastError;
static _Thread_local char message[32];

void __libelf_seterrno(int value) { lastError = value; }

int elf_errno(void) {
  const int value = lastError;
  lastError = 0;
  return value;
}

const char* elf_errmsg(int value) {
  if (value == 0 && lastError == 0) return NULL;
  snprintf(message, sizeof message, "error %d of libelf", value > 0 ? value : lastError);
  return message;
}
