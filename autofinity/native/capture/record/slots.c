#include "capture/record/slots.h"

#include "capture/record/encode.h"

void af_make_room_apart(af_thread* t) {
    if (t->unsettled != NULL) t->settle(t);
    if (t->next >= t->slots + AF_SLOTS) af_drain(t);
}
