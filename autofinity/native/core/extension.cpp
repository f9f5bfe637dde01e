// The extension `autofinity._core` itself is empty: it names the library libautofinity-core.so, in
// which Python finds the module's entry, and of which the dynamic linker takes what the processor
// can run (CMakeLists.txt).
