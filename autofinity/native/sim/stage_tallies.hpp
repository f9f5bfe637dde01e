// Tallies of a private stage, told by how far they are from what the accesses since the one before
// would give that were not kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "private_stage.hpp"
#include "range_coder.hpp"

namespace autofinity::sim {

inline constexpr std::size_t tally_fields = 9;
using TallyValues = std::array<std::uint32_t, tally_fields>;

inline TallyValues values_of(const Tally& t) {
    return {t.loads,
            t.stores,
            t.l2_hits,
            t.clean_l1_victims,
            t.modified_l1_victims,
            t.invalid_l1_victims,
            t.tlb2_hits,
            t.walks,
            t.stall};
}

inline Tally tally_of(const TallyValues& v) {
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
}

class TallyModel {
  public:
    void begin_stream() { expected_ = {}; }
    void leave_out(const Step& step) {
        expected_.loads += step.reads;
        expected_.stores += step.writes;
    }
    // Tells the tally, or, with a decoder, gives the one that was told.
    template <class Coder>
    Tally code(Coder& coder, const Tally& tally) {
        const TallyValues expected = values_of(std::exchange(expected_, {}));
        TallyValues values = values_of(tally);
        for (std::size_t i = 0; i < tally_fields; ++i)
            values[i] =
                expected[i] + unfolded(fields_[i].code(coder, folded(values[i] - expected[i])));
        return tally_of(values);
    }

  private:
    Number fields_[tally_fields];
    Tally expected_;
};

}  // namespace autofinity::sim
