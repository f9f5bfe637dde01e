// The decoder that the reader trusts a chunk's payload to, without the frame around it: what
// decodes must, encoded and decoded again, be the same events.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "trace/codec.h"

namespace {

constexpr std::uint32_t most_events = 4096;

std::vector<af_event> decoded(const std::uint8_t* from, const std::uint8_t* to,
                              std::uint32_t events, bool& sound) {
    auto model = std::make_unique<af_model>();
    std::memset(model.get(), 0, sizeof *model);
    std::vector<af_event> result(events);
    sound = af_decode(model.get(), from, to, result.data(), events) == nullptr;
    return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::uint16_t events;
    if (size < sizeof events) return 0;
    std::memcpy(&events, data, sizeof events);
    events %= most_events;
    bool sound;
    const auto first = decoded(data + sizeof events, data + size, events, sound);
    if (!sound) return 0;

    auto encoder = std::make_unique<af_encoder>();
    af_encoder_reset(encoder.get());
    std::vector<std::uint8_t> coded((std::size_t{events} + 1) * AF_EVENT_MAX_BYTES);
    std::uint8_t* end = coded.data();
    for (const af_event& event : first) end = af_encode(encoder.get(), end, &event);
    end = af_flush(encoder.get(), end);
    const auto second = decoded(coded.data(), end, events, sound);
    if (!sound ||
        (events != 0 && std::memcmp(first.data(), second.data(), events * sizeof(af_event)) != 0))
        std::abort();
    return 0;
}
