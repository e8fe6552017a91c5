# What the installed components need, then the components.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(yaml-cpp)
find_dependency(nlohmann_json)
find_dependency(CLI11)
find_dependency(Boost)
find_dependency(SQLite3)
find_dependency(Threads)
find_dependency(PkgConfig)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
# Devices, scenarios, programs; a program finds them by its environment's TILESIM_SHARE.
get_filename_component(TILESIM_SHARE "${CMAKE_CURRENT_LIST_DIR}/../../../share/tilesim" ABSOLUTE)
include(${CMAKE_CURRENT_LIST_DIR}/tilesim-targets.cmake)
