// Awaits of a thread, and their effect on the order of the locks that it holds meanwhile.
#pragma once

#include "capture/state/thread.h"

// Records an await unless this thread recorded the same one before; `who` posted the token.
AF_HIDDEN void af_await(af_thread* t, uint64_t token, const af_thread* who);
// Forgets all awaits at the begin or end of a unit: another thread may replay the following events,
// and has awaited nothing yet.
AF_HIDDEN void af_forget_awaited(af_thread* t);
// Keeps the order of the locks that a waiting thread holds, after `posts` posts of its own; only of
// the locks outside of `inside`, if given.
AF_HIDDEN void af_keep_order_of_held(af_thread* t, const void* inside, uint64_t posts);
