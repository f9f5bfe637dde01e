// First inputs of the stage target: valid stages on a few machines.
//
// usage: stage_seeds FOLDER
#include <cstdio>
#include <fstream>
#include <string>

#include "staged_program.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (const int variant : {0x10, 0x21, 0x32, 0x47, 0x2A, 0x1D}) {
        const auto bytes = autofinity::fuzz::valid_stage(static_cast<std::uint8_t>(variant));
        std::ofstream file(std::string(argv[1]) + "/variant-" + std::to_string(variant),
                           std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        if (!file) {
            std::perror(argv[1]);
            return 1;
        }
    }
}
