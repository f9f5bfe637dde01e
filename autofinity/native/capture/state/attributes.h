// Visibility of the runtime's functions and variables, and hints for branches.
#pragma once

#define AF_API __attribute__((visibility("default")))    // visible to the program
#define AF_HIDDEN __attribute__((visibility("hidden")))  // only other files of the library
#define AF_LIKELY(x) __builtin_expect(!!(x), 1)
#define AF_UNLIKELY(x) __builtin_expect(!!(x), 0)
