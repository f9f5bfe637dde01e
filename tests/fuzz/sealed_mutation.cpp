// libFuzzer's own mutations, after which seven of eight inputs get valid checksums again.
#include <algorithm>

#include "bundle.hpp"
#ifdef AUTOFINITY_SAMPLED
#include "sampled_bundle.hpp"
#endif

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, most);
    if (seed % 8 == 0) return size;
    autofinity::fuzz::Bundle bundle = autofinity::fuzz::unpack({data, size});
#ifdef AUTOFINITY_SAMPLED
    autofinity::fuzz::seal_sampled(bundle);
#else
    autofinity::fuzz::seal(bundle);
#endif
    const autofinity::fuzz::Bytes sealed = autofinity::fuzz::pack(bundle);
    size = std::min(sealed.size(), most);
    std::copy_n(sealed.begin(), size, data);
    return size;
}
