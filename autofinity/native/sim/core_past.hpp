// What a core did before an access, as far as others decide what came of it.
//
// Whether an L1 still has the tag of a line that another core took, and whether a prefetcher still
// follows a page, depends on when the line was taken and when the page missed last: that, the
// replay of a private stage knows. The stage knows the rest: since when nothing has come into the
// L1 that would have taken the tag's way, and which pages missed that are nobody else's business.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "host_cache.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

// Of a step of the stage.
struct Past {
    static constexpr std::uint32_t always = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t tag = always;  // a line lost in so many instructions before has its tag in the L1
    std::uint32_t missed = 0;    // how many of the stream's `missed_pages` come before

    // The first of an access at `issue`, where the way was taken by one at `taken`, + 1; 0: never.
    static std::uint32_t since(std::uint64_t taken, std::uint64_t issue) {
        const std::uint64_t before = issue + 1 - taken;
        return taken == 0 || before > always ? always : static_cast<std::uint32_t>(before);
    }
};

// Of each line: instruction of a stream at which its core last lost it.
using LostAt = Zeroed<std::uint64_t>;

// How far ahead they are brought near, as the steps themselves are.
inline constexpr std::size_t pasts_brought_near = 16;

// Of a stream, in a replay.
class StreamPast {
  public:
    StreamPast(const std::vector<Past>& told, const std::vector<std::uint32_t>& missed_pages,
               std::size_t lines)
        : next_(told.data()), missed_pages_(missed_pages), lost_at_(lines, true) {}

    // The access under way is at `issue`, and its step tells of it; or, without one that does,
    // nothing is known, and tags are there.
    void tell(std::uint64_t issue) {
        tag_ = issue - std::min<std::uint64_t>(next_->tag, issue);
        missed_ = next_->missed;
    }
    void tell_nothing() {
        tag_ = 0;
        missed_ = seen_;
    }
    // The same, but that the line's L1 set was filled at instruction `at`.
    void tell_fill(std::uint64_t at) {
        tell_nothing();
        tag_ = at;
    }
    void step_is_done() {
        ++next_;
        bring_near(next_, pasts_brought_near);
        tell_nothing();
    }

    void lose(std::uint32_t line, std::uint64_t at) { lost_at_[line] = at; }
    bool has_tag(std::uint32_t line) const { return lost_at_[line] >= tag_; }
    // The pages that missed since the last call, up to the access.
    std::span<const std::uint32_t> missed_pages() {
        const std::span<const std::uint32_t> since(missed_pages_.data() + seen_, missed_ - seen_);
        seen_ = missed_;
        return since;
    }

  private:
    const Past* next_ = nullptr;  // of the next step that tells one
    std::span<const std::uint32_t> missed_pages_;
    LostAt lost_at_;
    std::uint64_t tag_ = 0;
    std::uint32_t missed_ = 0, seen_ = 0;  // of missed_pages_
};

}  // namespace autofinity::sim
