#include "capture/order/written.h"

uint64_t af_needed(const af_written* w, const af_thread* t, const af_slot* from) {
    uint64_t needed = w->opaque_who != t ? w->opaque : 0;
    for (const af_slot* s = from; s < t->next; s++) {
        if (s->kind != AF_ACCESS || s->reads == 0) continue;
        for (uint32_t i = 0; i < AF_LINES && w->lines[i].token != 0; i++)
            if (w->lines[i].line == s->value && w->lines[i].who != t && w->lines[i].token > needed)
                needed = w->lines[i].token;
    }
    return needed;
}

static void remember_write(af_written* w, const af_thread* t, uint64_t line, uint64_t token) {
    uint32_t at = 0;
    while (at < AF_LINES && w->lines[at].token != 0 && w->lines[at].line != line) at++;
    if (at == AF_LINES) {
        at = w->next++ % AF_LINES;
        if (w->lines[at].token > w->opaque) {
            w->opaque = w->lines[at].token;
            w->opaque_who = w->lines[at].who;
        }
    }
    w->lines[at].line = line;
    w->lines[at].token = token;
    w->lines[at].who = t;
}

void af_remember_writes(af_written* w, const af_thread* t, const af_slot* from, uint64_t token) {
    if (from == NULL) {
        w->opaque = token;
        w->opaque_who = t;
        return;
    }
    for (const af_slot* s = from; s < t->next; s++)
        if (s->kind == AF_ACCESS && s->writes != 0) remember_write(w, t, s->value, token);
}
