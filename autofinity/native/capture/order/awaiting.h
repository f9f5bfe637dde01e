// What a thread waits for, noted; and what that means for the locks that it holds meanwhile.
#pragma once

#include "capture/state/thread.h"

// Notes an await unless this thread did so before; `who` posted it.
AF_HIDDEN void af_await(af_thread* t, uint64_t token, const af_thread* who);
// A unit begins or ends: what comes may be replayed by another thread, which has awaited nothing
// yet.
AF_HIDDEN void af_forget_awaited(af_thread* t);
// A thread that waits, after `posts` posts of its own, keeps the order of the locks that it holds,
// outside of `inside` if given.
AF_HIDDEN void af_keep_order_of_held(af_thread* t, const void* inside, uint64_t posts);
