// A shared library that exports something else.
extern "C" __attribute__((visibility("default"))) int not_get_pjrt_api() { return 0; }
