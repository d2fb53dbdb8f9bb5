/* A program that starts on glibc 2.27, for x86-64 (cmake/wheel.cmake).
 *
 * crt1.o calls the __libc_start_main of version 2.34, which runs constructors itself; the older one has main's caller do
 * that. A program without constructors may call either. Hidden, so that the old one is not looked for here. */
typedef int Main(int, char**, char**);

extern int oldStart(Main* main, int argc, char** argv, void (*init)(void), void (*fini)(void), void (*ldFini)(void),
                    void* stackEnd);
__asm__(".symver oldStart, __libc_start_main@GLIBC_2.2.5");

__attribute__((visibility("hidden"))) int __libc_start_main(Main* main, int argc, char** argv, void (*init)(void),
                                                            void (*fini)(void), void (*ldFini)(void),
                                                            void* stackEnd) {
  return oldStart(main, argc, argv, init, fini, ldFini, stackEnd);
}
