// Leader and followers: an interval belongs to the phase whose first interval is nearest, or begins
// a phase where none is near.
#include "capture/warm/phases.h"

#include "capture/state/arena.h"

enum {
    UNIT = 1 << 10,         // traits are fractions of it
    NEAR = UNIT * 6 / 100,  // mean difference of traits within a phase
    MOST_PHASES = 64,
    MOST_WINDOWS = 48,  // for phases, besides the evenly spread ones
    WINDOWS_OF_PHASE = 3,
    TRAITS = AF_TOUCHES + 2,
};

typedef struct phase {
    int32_t traits[TRAITS];
    uint32_t intervals;
    _Atomic uint32_t windows;
} phase;

static struct {
    phase* known;
    uint32_t known_n;
    _Atomic uint32_t now;      // phase of the last interval
    _Atomic uint32_t planned;  // windows planned for phases
} phases;

bool af_phases_open(void) {
    phases.known = af_map(MOST_PHASES * sizeof *phases.known);
    return phases.known != NULL;
}

// Logarithm of a quotient, 4 doublings per UNIT.
static int32_t logarithm(uint64_t numerator, uint64_t denominator) {
    uint64_t n = numerator * 64 / (denominator > 0 ? denominator : 1);
    if (n == 0) n = 1;
    const unsigned whole = 63u - (unsigned)__builtin_clzll(n);
    const uint64_t part = whole >= 8 ? n >> (whole - 8) : n << (8 - whole);  // 256 to 511
    return (int32_t)(whole * 256 + (part - 256)) * (UNIT / 1024);
}

static void find_traits(const af_interval* interval, uint64_t work, int32_t* traits) {
    uint64_t lines = 0, sum = 0;
    for (int i = 0; i < AF_TOUCHES; i++) lines += interval->touches[i];
    if (lines == 0) lines = 1;
    for (int i = 0; i < AF_TOUCHES - 1; i++) {
        sum += interval->touches[i];
        *traits++ = (int32_t)(sum * UNIT / lines);
    }
    *traits++ = (int32_t)(interval->writes * UNIT / lines);
    *traits++ = logarithm(interval->instructions, lines);
    *traits++ = logarithm(lines, work);
}

static uint32_t difference(const int32_t* a, const int32_t* b) {
    uint32_t sum = 0;
    for (int i = 0; i < TRAITS; i++) sum += (uint32_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
    return sum / TRAITS;
}

static uint32_t phase_of(const int32_t* traits) {
    uint32_t nearest = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < phases.known_n; i++) {
        const uint32_t far = difference(phases.known[i].traits, traits);
        if (far < least) {
            least = far;
            nearest = i;
        }
    }
    if (least <= NEAR || phases.known_n == MOST_PHASES) return nearest;
    for (int i = 0; i < TRAITS; i++) phases.known[phases.known_n].traits[i] = traits[i];
    return phases.known_n++;
}

bool af_phases_note(const af_interval* interval, uint64_t work) {
    int32_t traits[TRAITS];
    find_traits(interval, work, traits);
    const uint32_t now = phase_of(traits);
    atomic_store_explicit(&phases.now, now, memory_order_relaxed);
    // A single interval lies between two phases, or its phase is so short that a window has to open
    // as the phase begins again.
    return ++phases.known[now].intervals > 1 && atomic_load(&phases.planned) < MOST_WINDOWS &&
           atomic_load(&phases.known[now].windows) < WINDOWS_OF_PHASE;
}

void af_phases_planned(void) { atomic_fetch_add(&phases.planned, 1); }

void af_phases_window(void) {
    atomic_fetch_add(&phases.known[atomic_load(&phases.now)].windows, 1);
}
