// The content of caches, for tests to compare.
#include "memory.hpp"

namespace autofinity::sim {
namespace {

std::vector<Word> valid_words(const Sets& sets) {
    std::vector<Word> found;
    for (const Word word : sets.words())
        if (state_of(word) != invalid) found.push_back(word);
    return found;
}

const PrivateCaches* caches_of(const CoreCaches& cores, std::uint32_t core) {
    for (std::uint32_t number = 0; cores.has(core) && number < cores.count(); ++number)
        if (cores[number].core == core) return &cores[number];
    return nullptr;
}

}  // namespace

std::vector<Word> Memory::l1_contents(std::uint32_t core) const {
    const PrivateCaches* c = caches_of(hierarchy().cores, core);
    return c == nullptr ? std::vector<Word>{} : valid_words(c->l1);
}

// The L2 learns later that an L1 has a line in another state: the domain's state counts.
std::vector<Word> Memory::l2_contents(std::uint32_t core) const {
    const PrivateCaches* c = caches_of(hierarchy().cores, core);
    if (c == nullptr) return {};
    std::vector<Word> words = valid_words(c->l2);
    for (Word& word : words)
        word = word_of(line_of(word), hierarchy().cores.domain(c->domain).state(line_of(word)));
    return words;
}

std::vector<Word> Memory::llc_contents(std::uint32_t llc) const {
    std::vector<Word> found;
    for (const Word word : hierarchy().llcs.words(llc)) {
        if (word == 0) continue;
        const bool dirty = hierarchy().directory[line_of(word)].dirty_llc_plus_one == llc + 1;
        found.push_back(word_of(line_of(word), dirty ? modified : shared));
    }
    return found;
}

}  // namespace autofinity::sim
