// libsystemc's own main calls this. Tests and benchmarks have another main and never come here, but
// whatever links libsystemc must define it.
extern "C" __attribute__((visibility("default"))) int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
