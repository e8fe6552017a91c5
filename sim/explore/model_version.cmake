# Writes OUTPUT: the version of the model, which changes whenever a source that decides results does.
file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR}
    ${SOURCE_DIR}/arch/*.[ch]pp ${SOURCE_DIR}/workloads/*.[ch]pp ${SOURCE_DIR}/sim/*.[ch]pp)
list(FILTER sources EXCLUDE REGEX
    "_(test|bench|fuzz)\\.cpp$|_testing\\.[ch]pp$|^sim/(compare|explore|page|trace)/")
list(SORT sources)
set(all "")
foreach(source ${sources})
    file(SHA1 ${SOURCE_DIR}/${source} digest)
    string(APPEND all "${source} ${digest}\n")
endforeach()
string(SHA1 digest "${all}")
string(SUBSTRING ${digest} 0 12 short)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "sim/explore/model_version.hpp"

namespace tilesim::sim::explore {

std::string model_version() {
    return "@VERSION@+@short@";
}

}  // namespace tilesim::sim::explore
]])
