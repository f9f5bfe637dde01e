#include "shared_lines.hpp"

#include <algorithm>

namespace autofinity::sim {

SharedLines::SharedLines(const Program& program, const Machine& machine)
    : owned_state_(machine.owned_state), users_(program.n_lines), writer_(program.n_lines) {
    std::uint8_t user = 0;
    for (const StreamPlan& plan : program.streams) add(plan, ++user);
}

// Before its region the main thread is replayed for warm caches only.
void SharedLines::add(const StreamPlan& plan, std::uint8_t user) {
    const auto begins = [](const Step& step) {
        return step.kind == static_cast<std::uint8_t>(trace::Kind::roi_begin);
    };
    auto at = std::ranges::find_if(plan.steps, begins);
    if (at == plan.steps.end()) at = plan.steps.begin();
    for (; at != plan.steps.end(); ++at) {
        if (!is_access(*at)) continue;
        std::uint8_t& users = users_[at->line];
        const std::uint8_t before = users & several;
        users = static_cast<std::uint8_t>((before == 0 || before == user ? user : several) |
                                          (users & written) | (at->writes != 0 ? written : 0));
        if (at->writes == 0) continue;
        std::uint8_t& writer = writer_[at->line];
        writer = writer == 0 || writer == user ? user : several;
    }
}

}  // namespace autofinity::sim
