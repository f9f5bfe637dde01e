// Checks that a policy file is whole: JSON with the fields of a policy, each of its kind. The
// monitor checks the meaning of values, too (names of counters, order of numbers): it refuses all
// that is refused here.
#include <stdio.h>
#include <string.h>

#include "launcher.h"

enum { DEEPEST = 64, MOST_FIELDS = 16 };

enum What { ANYTHING, TEXT, HINT, NUMBER, LIST, FIELDS, MAP };

typedef struct Kind Kind;

typedef struct {
    const char* name;
    const Kind* kind;
    bool optional;
} Field;

struct Kind {
    enum What what;
    bool may_be_null;
    const Kind* of;       // of a list's or a map's values
    const Field* fields;  // of an object that has no others
};

static const Kind any = {.what = ANYTHING}, text = {.what = TEXT}, hint = {.what = HINT},
                  number = {.what = NUMBER}, bound = {.what = NUMBER, .may_be_null = true},
                  texts = {.what = LIST, .of = &text}, hints = {.what = LIST, .of = &hint},
                  numbers = {.what = LIST, .of = &number}, cuts = {.what = MAP, .of = &numbers},
                  map = {.what = MAP, .of = &any};

static const Field condition_fields[] = {
    {"counter", &text, false}, {"above", &bound, false}, {"upto", &bound, false}, {0}};
static const Kind condition = {.what = FIELDS, .fields = condition_fields};
static const Kind conditions = {.what = LIST, .of = &condition};

static const Field rule_fields[] = {{"hint", &hint, false},
                                    {"when", &conditions, false},
                                    {"covered", &number, false},
                                    {"wrong", &number, false},
                                    {0}};
static const Kind rule = {.what = FIELDS, .fields = rule_fields};
static const Kind rules = {.what = LIST, .of = &rule};

static const Field ratio_fields[] = {{"name", &text, false},         {"numerator", &texts, false},
                                     {"denominator", &texts, false}, {"scale", &number, false},
                                     {"fact", &text, true},          {0}};
static const Kind ratio = {.what = FIELDS, .fields = ratio_fields};
static const Kind ratios = {.what = LIST, .of = &ratio};

static const Field second_fields[] = {{"sampled_in", &hint, false},
                                      {"after", &hints, false},
                                      {"ratios", &ratios, false},
                                      {"cut_points", &cuts, false},
                                      {"rules", &rules, false},
                                      {"default", &hint, false},
                                      {0}};
static const Kind second = {.what = FIELDS, .may_be_null = true, .fields = second_fields};

static const Field trial_fields[] = {{"hint", &hint, false},
                                     {"faster", &number, false},
                                     {"above", &number, true},
                                     {"upto", &number, true},
                                     {0}};
static const Kind trial = {.what = FIELDS, .may_be_null = true, .fields = trial_fields};

static const Field instead_fields[] = {
    {"hint", &hint, false}, {"threads", &numbers, false}, {"better", &hint, false}, {0}};
static const Kind instead = {.what = FIELDS, .fields = instead_fields};
static const Kind list_of_instead = {.what = LIST, .of = &instead};

static const Field other_fields[] = {
    {"cores", &text, false}, {"instead", &list_of_instead, false}, {0}};
static const Kind other_counts = {.what = FIELDS, .may_be_null = true, .fields = other_fields};

static const Field policy_fields[] = {{"format", &text, false},
                                      {"version", &number, false},
                                      {"counters", &texts, false},
                                      {"cut_points", &cuts, false},
                                      {"rules", &rules, false},
                                      {"default", &hint, false},
                                      {"provenance", &map, false},
                                      {"ratios", &ratios, true},
                                      {"second", &second, true},
                                      {"trial", &trial, true},
                                      {"other_counts", &other_counts, true},
                                      {0}};
static const Kind policy = {.what = FIELDS, .fields = policy_fields};

// A place in the text. `undecided`: something is written in a way that only the monitor reads.
typedef struct {
    const char *at, *end;
    bool undecided;
} Place;

static bool value(Place* place, const Kind* kind, int depth);

static char next(Place* place) {
    while (place->at < place->end && strchr(" \t\r\n", *place->at) && *place->at) place->at++;
    return place->at < place->end ? *place->at : '\0';
}

static bool take(Place* place, char wanted) {
    if (next(place) != wanted) return false;
    place->at++;
    return true;
}

// A text, which begins after its first quote and ends before its last.
static bool a_text(Place* place, const char** begin, size_t* bytes) {
    if (!take(place, '"')) return false;
    *begin = place->at;
    for (; place->at < place->end; place->at++) {
        if (*place->at == '"') {
            *bytes = (size_t)(place->at++ - *begin);
            return true;
        }
        if ((unsigned char)*place->at < 0x20) return false;
        if (*place->at == '\\') place->at++;
    }
    return false;
}

// Sets the place back to a text that is not what was expected; one with escapes may be.
static bool not_this(Place* place, const char* before, const char* begin, size_t bytes) {
    place->at = before;
    place->undecided = memchr(begin, '\\', bytes) != NULL;
    return false;
}

static bool has_letters(const char* letters, size_t bytes) {
    return bytes == 3 && strchr("Ss", letters[0]) && strchr("Ll", letters[1]) &&
           strchr("Pp", letters[2]);
}

static bool word(Place* place, const char* wanted) {
    size_t bytes = strlen(wanted);
    next(place);
    if ((size_t)(place->end - place->at) < bytes || memcmp(place->at, wanted, bytes) != 0) {
        return false;
    }
    place->at += bytes;
    return true;
}

static bool a_number(Place* place) {
    next(place);
    if (place->at < place->end && *place->at == '-') place->at++;
    if (place->at >= place->end || *place->at < '0' || *place->at > '9') return false;
    while (place->at < place->end && *place->at && strchr("0123456789.eE+-", *place->at)) {
        place->at++;
    }
    return true;
}

static bool a_list(Place* place, const Kind* of, int depth) {
    if (!take(place, '[')) return false;
    if (take(place, ']')) return true;
    do {
        if (!value(place, of, depth + 1)) return false;
    } while (take(place, ','));
    return take(place, ']');
}

static const Field* field_named(const Field* fields, const char* name, size_t bytes) {
    for (; fields->name; fields++) {
        if (strlen(fields->name) == bytes && memcmp(fields->name, name, bytes) == 0) return fields;
    }
    return NULL;
}

static bool an_object(Place* place, const Kind* kind, int depth) {
    bool seen[MOST_FIELDS] = {false};
    if (!take(place, '{')) return false;
    bool more = !take(place, '}');
    while (more) {
        const char* name = NULL;
        size_t bytes = 0;
        next(place);
        const char* before = place->at;
        if (!a_text(place, &name, &bytes) || !take(place, ':')) return false;
        const Kind* of = kind->of;
        if (kind->fields) {
            const Field* field = field_named(kind->fields, name, bytes);
            if (!field) return not_this(place, before, name, bytes);
            seen[field - kind->fields] = true;
            of = field->kind;
        }
        if (!value(place, of, depth + 1)) return false;
        more = take(place, ',');
        if (!more && !take(place, '}')) return false;
    }
    for (const Field* field = kind->fields; field && field->name; field++) {
        if (!field->optional && !seen[field - kind->fields]) return false;
    }
    return true;
}

static bool anything(Place* place, int depth) {
    switch (next(place)) {
        case '{':
            return an_object(place, &map, depth);
        case '[':
            return a_list(place, &any, depth);
        case '"':
            return value(place, &text, depth);
        case 't':
            return word(place, "true");
        case 'f':
            return word(place, "false");
        case 'n':
            return word(place, "null");
        default:
            return a_number(place);
    }
}

static bool value(Place* place, const Kind* kind, int depth) {
    const char* begin = NULL;
    size_t bytes = 0;
    if (depth > DEEPEST) {
        place->undecided = true;
        return false;
    }
    if (kind->may_be_null && next(place) == 'n') return word(place, "null");
    next(place);
    const char* before = place->at;
    switch (kind->what) {
        case TEXT:
            return a_text(place, &begin, &bytes);
        case HINT:
            if (!a_text(place, &begin, &bytes)) return false;
            return has_letters(begin, bytes) || not_this(place, before, begin, bytes);
        case NUMBER:
            return a_number(place);
        case LIST:
            return a_list(place, kind->of, depth);
        case FIELDS:
        case MAP:
            return an_object(place, kind, depth);
        default:
            return anything(place, depth);
    }
}

int broken_line(const char* content, size_t bytes) {
    Place place = {.at = content, .end = content + bytes};
    if (value(&place, &policy, 0) && next(&place) == '\0' && place.at == place.end) return 0;
    if (place.undecided) return 0;
    int line = 1;
    for (const char* at = content; at < place.at && at < place.end; at++) line += *at == '\n';
    return line;
}
