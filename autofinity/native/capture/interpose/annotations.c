// Other functions of the compiler's own runtime that a program may have been linked against: here
// they only have to exist. Arguments are ignored, which the C calling convention allows.
//
// One of them is __tsan_init, which the program's preinit array calls before the C library knows
// the environment. The recording begins later, in our own constructor, which runs before any of the
// program's.
#include "capture/state/thread.h"

// A program linked against the compiler's runtime takes `atexit` from there, not from the C
// library.
extern int __cxa_atexit(void (*)(void*), void*, void*);
AF_API int atexit(void (*routine)(void)) {
    return __cxa_atexit((void (*)(void*))(void*)routine, NULL, NULL);
}

#define NOTHING(name) \
    AF_API void name(void) {}
NOTHING(AnnotateBenignRace)
NOTHING(AnnotateBenignRaceSized)
NOTHING(AnnotateCondVarSignal)
NOTHING(AnnotateCondVarSignalAll)
NOTHING(AnnotateCondVarWait)
NOTHING(AnnotateEnableRaceDetection)
NOTHING(AnnotateExpectRace)
NOTHING(AnnotateFlushExpectedRaces)
NOTHING(AnnotateFlushState)
NOTHING(AnnotateHappensAfter)
NOTHING(AnnotateHappensBefore)
NOTHING(AnnotateIgnoreReadsBegin)
NOTHING(AnnotateIgnoreReadsEnd)
NOTHING(AnnotateIgnoreSyncBegin)
NOTHING(AnnotateIgnoreSyncEnd)
NOTHING(AnnotateIgnoreWritesBegin)
NOTHING(AnnotateIgnoreWritesEnd)
NOTHING(AnnotateMemoryIsInitialized)
NOTHING(AnnotateMemoryIsUninitialized)
NOTHING(AnnotateMutexIsNotPHB)
NOTHING(AnnotateMutexIsUsedAsCondVar)
NOTHING(AnnotateNewMemory)
NOTHING(AnnotateNoOp)
NOTHING(AnnotatePCQCreate)
NOTHING(AnnotatePCQDestroy)
NOTHING(AnnotatePCQGet)
NOTHING(AnnotatePCQPut)
NOTHING(AnnotatePublishMemoryRange)
NOTHING(AnnotateRWLockAcquired)
NOTHING(AnnotateRWLockCreate)
NOTHING(AnnotateRWLockCreateStatic)
NOTHING(AnnotateRWLockDestroy)
NOTHING(AnnotateRWLockReleased)
NOTHING(AnnotateThreadName)
NOTHING(AnnotateTraceMemory)
NOTHING(AnnotateUnpublishMemoryRange)
NOTHING(WTFAnnotateBenignRaceSized)
NOTHING(WTFAnnotateHappensAfter)
NOTHING(WTFAnnotateHappensBefore)
NOTHING(__tsan_init)
NOTHING(__tsan_func_entry)
NOTHING(__tsan_func_exit)
NOTHING(__tsan_ignore_thread_begin)
NOTHING(__tsan_ignore_thread_end)
NOTHING(__tsan_flush_memory)
NOTHING(__tsan_mutex_create)
NOTHING(__tsan_mutex_destroy)
NOTHING(__tsan_mutex_pre_lock)
NOTHING(__tsan_mutex_post_lock)
NOTHING(__tsan_mutex_post_unlock)
NOTHING(__tsan_mutex_pre_signal)
NOTHING(__tsan_mutex_post_signal)
NOTHING(__tsan_mutex_pre_divert)
NOTHING(__tsan_mutex_post_divert)
NOTHING(__tsan_acquire)
NOTHING(__tsan_release)
NOTHING(__tsan_destroy_fiber)
NOTHING(__tsan_switch_to_fiber)
NOTHING(__tsan_set_fiber_name)
NOTHING(__tsan_external_register_header)
NOTHING(__tsan_external_assign_tag)
NOTHING(__tsan_external_read)
NOTHING(__tsan_external_write)
AF_API int __tsan_mutex_pre_unlock(void) { return 0; }
AF_API int RunningOnValgrind(void) { return 0; }
AF_API double ValgrindSlowdown(void) { return 1; }
AF_API const char* ThreadSanitizerQuery(const char* query) {
    (void)query;
    return "";
}
AF_API void* __tsan_create_fiber(unsigned flags) {
    (void)flags;
    return &af_self;
}
AF_API void* __tsan_get_current_fiber(void) { return &af_self; }
AF_API void* __tsan_external_register_tag(const char* type) { return (void*)(uintptr_t)type; }
