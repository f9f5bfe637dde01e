// Runs a target over files and folders without a fuzzer: for compilers that have none, for AFL, and
// to see one finding again.
//
// usage: TARGET FILE-OR-FOLDER…
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t run(const std::filesystem::path& path) {
    std::size_t count = 0;
    if (std::filesystem::is_directory(path)) {
        for (const auto& entry : std::filesystem::directory_iterator(path))
            count += run(entry.path());
        return count;
    }
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t count = 0;
    for (int i = 1; i < argc; ++i) count += run(argv[i]);
    std::printf("%s: %zu inputs\n", argv[0], count);
    return count == 0;
}
