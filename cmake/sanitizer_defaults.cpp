// How a worker that is built with sanitizers dies: as its supervisor is to see it. A fault ends it
// by the signal, not by a report and exit code 1. Leaks are looked for in the tests of what it is
// made of: at the end of a training process MPI and the plugins have not given everything back, and
// the search needs to trace its own process, which not every container lets it.
//
// The sanitizers' runtimes call these before main(); an option of the same name in ASAN_OPTIONS or
// TSAN_OPTIONS outweighs them.

extern "C" {

const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
         "detect_leaks=0";
}

const char* __tsan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0";
}
}
