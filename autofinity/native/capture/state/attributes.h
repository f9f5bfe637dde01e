// Who sees a function or variable of the runtime, and which way a branch goes.
#pragma once

#define AF_API __attribute__((visibility("default")))    // the program
#define AF_HIDDEN __attribute__((visibility("hidden")))  // other files of the library
#define AF_LIKELY(x) __builtin_expect(!!(x), 1)
#define AF_UNLIKELY(x) __builtin_expect(!!(x), 0)
