/* ptxopt for other languages: a C interface to what libptxopt.so exports. The Python package uses it through ctypes.
 *
 *     ptxopt_result* r = ptxopt_optimize(text, size, "{\"arch\": \"sm_90\"}");
 *     if (ptxopt_status(r) == 0) use(ptxopt_output(r, &size));
 *     else puts(ptxopt_error(r));
 *     ptxopt_free(r);
 *
 * Calls from several threads at once are fine. No function keeps what it is given, none throws or exits. What a result
 * returns lives as long as the result. Functions are added, never changed: ptxopt_abi() counts additions. */
#ifndef PTXOPT_C_H
#define PTXOPT_C_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTXOPT_C_API __attribute__((visibility("default")))

PTXOPT_C_API int ptxopt_abi(void);                  /* 4 */
PTXOPT_C_API const char* ptxopt_version(void);      /* "0.1.0" */
PTXOPT_C_API const char* ptxopt_version_line(void); /* what `ptxopt --version` prints */

typedef struct ptxopt_result ptxopt_result;

/* Optimizes a text, with the guard. `options` is a JSON object or NULL; each member may be missing:
 *   arch            "sm_90"; else what the text's .target says
 *   level           0, 1, 2                       [2]
 *   passes, skip    lists of names
 *   decline         a list: what --decline takes
 *   knobs           an object of numbers
 *   strip_debug     whether debug information is dropped first  [false]
 *   externals       "optix": functions of OptiX may be called undeclared; "none"  [optix where the guard is off]
 *   facts           what holds of all launches, an object as in docs/facts.md
 *   facts_of_several  whether facts may name kernels of other texts  [false]
 *   profile         what launches were seen to have, an object as in docs/profile.md
 *   guard           "auto", "ptxas", "off"  [auto: ptxas at level 2, if there is one and no passes are named]
 *   guard_rule      "time", "warps"               [$PTXOPT_GUARD_RULE, else time]
 *   guard_tries     how often functions that get worse are tried again without some passes, 0 to 8
 *                   [$PTXOPT_GUARD_TRIES, or 1]
 *   ptxas           the program that the guard asks; else as docs/guard.md has it
 *   ptxas_options   a list: the options of the ptxas that assembles the output, which the guard asks with; without the
 *                   architecture, files and -o. Where they ask for code as it was written (-g, -O0), the text is left
 *   cubin           whether what ptxas makes for the guard is kept, for ptxopt_cubin()  [false]
 *   packages        folders of Python packages that may bring a ptxas, which is asked after all others
 *   timeout         seconds for a call of ptxas   [600]
 *   jobs            threads; 0: one a core        [1]
 *   file            the name in messages          ["<input>"]
 *   report          whether the details have the report  [false]
 * A member that is not one of these is an error, and so is a number that makes no sense. Never NULL. */
PTXOPT_C_API ptxopt_result* ptxopt_optimize(const char* text, size_t size, const char* options);
/* The exit code of the tool: 0 ok, 2 options that make no sense, 3 the text is not PTX, 4 a bug in ptxopt; 1 where the
 * guard was asked for by its name and had nothing to compare. Of NULL, as for the next three: 2. */
PTXOPT_C_API int ptxopt_status(const ptxopt_result* result);
/* The optimized text, empty unless the status is 0. A zero byte follows it. */
PTXOPT_C_API const char* ptxopt_output(const ptxopt_result* result, size_t* size);
/* What went wrong: `FILE:LINE:COL: error: ...`, the line, a caret. "" where nothing did. */
PTXOPT_C_API const char* ptxopt_error(const ptxopt_result* result);
/* Since ABI 2: the machine code of the very text that is the output, and what ptxas wrote when it made it, with the name
 * of `file`. It is what the same ptxas makes of that text with ptxas_options, -v and the architecture. Nothing, of size 0,
 * unless `cubin` was asked for and the guard assembled that text now: not where nothing changed, nor where it knew the
 * answer. */
PTXOPT_C_API const char* ptxopt_cubin(const ptxopt_result* result, size_t* size);
PTXOPT_C_API const char* ptxopt_messages(const ptxopt_result* result);
/* A JSON object: architecture, functions, functions_changed, instructions, instructions_after, not_optimized (why, if
 * ptxas_options say so, else ""), remarks ({name, place, message, pass, missed}), guard ({mode, asked, ptxas, why,
 * trouble, kept: {name, reason, detail}} and, where ptxas has figures, before and after: of each function), and report
 * if it was asked for: what --report of the tool writes. */
PTXOPT_C_API const char* ptxopt_details(const ptxopt_result* result);
PTXOPT_C_API void ptxopt_free(ptxopt_result* result);

/* A JSON object with the lists `passes` and `knobs`, as --list-passes and --list-knobs have them, and, since ABI 3,
 * `log_sources`: the sources of messages. */
PTXOPT_C_API const char* ptxopt_describe(void);

/* Since ABI 4: what is wrong with variables of the environment, a line each, as the programs say it: a PTXOPT_ variable that
 * nobody reads, or a value that makes no sense. "": nothing. It is found out at the first call. */
PTXOPT_C_API const char* ptxopt_environment_warnings(void);

/* Messages, since ABI 3. The library writes nothing by itself; a callback gets what the tool says on standard error.
 *
 * Levels: DEBUG has the calls of ptxas with their time and what the cache had, TRACE what each pass did and left; INFO is
 * what -v of the tool says: kernels that were kept, and why. ASKED is for what ptxopt_main() is asked to say, a table for
 * example; it comes at each level but OFF. */
enum {
  PTXOPT_LOG_TRACE = 0,
  PTXOPT_LOG_DEBUG = 1,
  PTXOPT_LOG_INFO = 2,
  PTXOPT_LOG_WARN = 3,
  PTXOPT_LOG_ERROR = 4,
  PTXOPT_LOG_ASKED = 5,
  PTXOPT_LOG_OFF = 6
};

/* `source` is the part of ptxopt that the message is from, "guard" for example. `text` is one line or several, in UTF-8 as
 * far as names of the PTX are, without a line feed at the end. Both are good during the call. */
typedef void (*ptxopt_log_callback)(int level, const char* source, const char* text, void* user);

/* Messages of `level` and above go to `callback`, with `user`; one callback for the process, instead of one that there was.
 * NULL: none. 0, or 2 where there is no such level or no memory, and nothing changes.
 *
 * Any thread may call the callback, those of `jobs` too, and several at a time. No lock is held meanwhile: it may take locks,
 * call ptxopt_optimize(), whose messages it does not get then, and this function. It must not throw or end the thread.
 * When this function returns, no other thread is in the callback that there was, and none enters it: `user` may be freed. So
 * hold no lock here that the callback takes. A child of fork() has the callback. */
PTXOPT_C_API int ptxopt_set_log(ptxopt_log_callback callback, void* user, int level);
/* The level of the callback that there is; does nothing where there is none, and never waits for a callback. What no level
 * asks for costs nothing. 0, or 2 where there is no such level. */
PTXOPT_C_API int ptxopt_set_log_level(int level);

/* What the programs ptxopt and ptxopt-ptxas do; the exit code. For programs that are nothing else. */
PTXOPT_C_API int ptxopt_main(int argc, char** argv);
PTXOPT_C_API int ptxopt_ptxas_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
