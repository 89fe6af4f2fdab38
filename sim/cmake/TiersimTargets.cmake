# One function for each kind of target, so that no folder repeats flags or include paths.

add_library(tiersim_options INTERFACE)
target_compile_features(tiersim_options INTERFACE cxx_std_20)
target_compile_options(tiersim_options INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow;-Wnon-virtual-dtor>"
  -ffp-contract=off # the same bits with and without fused multiply-add
  "$<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>>") # 12 % less time
target_include_directories(tiersim_options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tiersim>") # headers name each other from there
target_link_libraries(tiersim_options INTERFACE fmt::fmt) # for the precompiled header

# TIERSIM_UNITY: compiles the sources of a folder as a few large units on top of one precompiled
# header (sim/base/precompiled.hpp). It takes a quarter of the processor time; `dev` builds each
# file alone.
option(TIERSIM_UNITY "compile the sources of a folder as a few large units" ON)
set(TIERSIM_UNITY_SIZE 16) # sources a unit: more take less time, but leave a core idle at the end

# tiersim_precompile(<name> <header> ... [DEPS ...] [OPTIONS ...]): tiersim_precompiled_<name>, for
# targets that are compiled with the same options.
function(tiersim_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;OPTIONS")
  if(NOT TIERSIM_UNITY)
    return()
  endif()
  set(empty "${PROJECT_BINARY_DIR}/generated/precompiled_${name}.cpp")
  file(CONFIGURE OUTPUT "${empty}" CONTENT "")
  add_library(tiersim_precompiled_${name} OBJECT "${empty}")
  target_link_libraries(tiersim_precompiled_${name} PRIVATE tiersim_options ${arg_DEPS})
  target_compile_options(tiersim_precompiled_${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(tiersim_precompiled_${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()
# How libraries are optimised, so that building takes little time:
#   hot       events, packets and fits loop here; optimised under sanitizers too
#   library   optimised in a release, and not at all under sanitizers and in `dev`
#   front     reads options, arranges runs and prints; optimised less in a release
set(library_options_hot "")
set(library_options_library "$<$<CONFIG:Debug>:-O0>")
set(library_options_front "$<$<CONFIG:Release>:-O1>" "$<$<CONFIG:Debug>:-O0>")
tiersim_precompile(library "${PROJECT_SOURCE_DIR}/sim/base/precompiled.hpp"
  OPTIONS ${library_options_library})
tiersim_precompile(front "${PROJECT_SOURCE_DIR}/sim/base/precompiled.hpp" "<nlohmann/json.hpp>"
  DEPS nlohmann_json::nlohmann_json OPTIONS ${library_options_front})
if(CMAKE_BUILD_TYPE STREQUAL "Debug") # else the options are those of `library`
  tiersim_precompile(hot "${PROJECT_SOURCE_DIR}/sim/base/precompiled.hpp")
endif()

# tiersim_unity(<target> <precompiled>): groups the target's present sources. Each element of the
# list TIERSIM_UNITY_TOGETHER names small folders that make one unit: "points html".
function(tiersim_unity target precompiled)
  if(NOT TIERSIM_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_precompile_headers(${target} REUSE_FROM tiersim_precompiled_${precompiled})
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" NORMALIZE)
    cmake_path(GET source PARENT_PATH parent)
    cmake_path(GET parent FILENAME group)
    string(MD5 digest "${parent}")
    string(SUBSTRING "${digest}" 0 6 digest)
    math(EXPR count "0${count_of_${digest}} + 1")
    set(count_of_${digest} ${count})
    math(EXPR unit "${count} / ${TIERSIM_UNITY_SIZE}")
    cmake_path(RELATIVE_PATH parent BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE below)
    foreach(together IN LISTS TIERSIM_UNITY_TOGETHER)
      separate_arguments(folders UNIX_COMMAND "${together}")
      if(below IN_LIST folders)
        list(GET folders 0 group)
        string(MAKE_C_IDENTIFIER "${group}" group)
        set(digest "together")
        set(unit 0)
      endif()
    endforeach()
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES
      UNITY_GROUP "${group}_${digest}_${unit}")
  endforeach()
endfunction()

# tiersim_optimise(<target> <hot|library|front>): compiles the target's present sources.
function(tiersim_optimise target how)
  target_compile_options(${target} PRIVATE ${library_options_${how}})
  if(how STREQUAL "hot" AND NOT TARGET tiersim_precompiled_hot)
    set(how library)
  endif()
  tiersim_unity(${target} ${how})
endfunction()

# tiersim_library(<name> [HOT|FRONT] [SOURCES <.cpp> ...] DEPS <public> ... PRIVATE_DEPS <private> ...)
# Makes the static library tiersim::<name> from these sources, by default all in this folder.
# Headers are beside their sources.
function(tiersim_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HOT;FRONT" "" "SOURCES;DEPS;PRIVATE_DEPS")
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS "*.cpp")
  endif()
  add_library(tiersim_${name} STATIC ${arg_SOURCES})
  add_library(tiersim::${name} ALIAS tiersim_${name})
  target_link_libraries(tiersim_${name} PUBLIC tiersim_options ${arg_DEPS}
    PRIVATE ${arg_PRIVATE_DEPS})
  set(how library)
  if(arg_HOT)
    set(how hot)
  elseif(arg_FRONT)
    set(how front)
  endif()
  tiersim_optimise(tiersim_${name} ${how})
endfunction()

# tiersim_register(<target> <name> REGISTRY <type> HEADER <of the type> KINDS <kind> ...)
# Generates register_all_<name>(<type>&), which calls register_<kind>() for every kind; a kind is
# the pair <kind>.hpp, <kind>.cpp of this folder. To add a model, add one word here.
function(tiersim_register target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "REGISTRY;HEADER" "KINDS")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE here)
  set(includes "#include \"${arg_HEADER}\"\n")
  set(calls "")
  foreach(kind IN LISTS arg_KINDS)
    string(APPEND includes "#include \"${here}/${kind}.hpp\"\n")
    string(APPEND calls "  register_${kind}(registry);\n")
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/${kind}.cpp")
  endforeach()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/register_all_${name}.cpp")
  file(CONFIGURE OUTPUT "${generated}" CONTENT
"${includes}
namespace tiersim {
void register_all_${name}(${arg_REGISTRY}& registry);
void register_all_${name}(${arg_REGISTRY}& registry) {
${calls}}
}  // namespace tiersim
")
  target_sources(${target} PRIVATE "${generated}")
endfunction()

# TIERSIM_TESTS_TOGETHER: each binary of tests is one test, so that its process starts once. For
# sanitizers, under which starting takes longer than most tests.
option(TIERSIM_TESTS_TOGETHER "make one test of each binary, but of kernels, which may end theirs" OFF)

# tests_<layer> builds the tests of one layer that every change must pass, tests_of_<folder> those of one
# folder, tests_ci all of them, and tests_nightly those that only the night runs.
foreach(layer IN ITEMS unit theory property golden bad_configs validation kernels numerics fuzz cli bench
    ci nightly)
  add_custom_target(tests_${layer})
endforeach()

# How tests are optimised. Compiling them takes longer than running them, but where they loop long.
set(test_options_quick -O0)                       # unit, bad_configs, golden, fuzz, counts of bench
set(test_options_steady "$<$<CONFIG:Release>:-O1>") # all others
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  foreach(speed IN ITEMS quick steady)
    tiersim_precompile(test_${speed} "${PROJECT_SOURCE_DIR}/tests/support/precompiled.hpp"
      DEPS GTest::gmock OPTIONS ${test_options_${speed}})
  endforeach()
endif()

# tiersim_test(<name> [SOURCES ...] DEPS ... LABELS <layer> <ci|nightly|ci nightly> [TIMEOUT s]
#              [SPEED s] [ALONE])
# One GoogleTest binary, of all *_test.cpp of this folder that are not *_nightly_test.cpp where no
# sources are named. Each of its tests becomes the ctest test <layer>.<Subject>.<Behaviour> where it
# is of ci, and <layer>.nightly.<Subject>.<Behaviour>, with TIERSIM_NIGHTLY=1, where it is nightly.
# SPEED (quick, steady) is that of its layer; ALONE compiles each source by itself. Binaries of
# nightly tests alone are built by `tests_nightly` and by `all`. A label names the folder, so that
# one folder's tests can be run: `ctest -L '^unit/serving$'`.
function(tiersim_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "SPEED;TIMEOUT" "SOURCES;DEPS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS "*_test.cpp")
    list(FILTER arg_SOURCES EXCLUDE REGEX "_nightly_test\\.cpp$")
  endif()
  list(POP_FRONT arg_LABELS layer)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests"
    OUTPUT_VARIABLE folder)
  if(arg_SPEED)
    set(speed ${arg_SPEED})
  elseif(layer MATCHES "^(unit|bad_configs|golden|fuzz)$")
    set(speed quick)
  else()
    set(speed steady)
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(ci IN_LIST arg_LABELS)
    string(REPLACE "/" "_" of_folder "tests_of_${folder}")
    if(NOT TARGET ${of_folder})
      add_custom_target(${of_folder})
    endif()
    foreach(target IN ITEMS tests_ci tests_${layer} ${of_folder})
      add_dependencies(${target} ${name})
    endforeach()
  else()
    add_dependencies(tests_nightly ${name})
    if(layer STREQUAL kernels) # .ci/run builds them where the kernels changed
      add_dependencies(tests_kernels ${name})
    endif()
  endif()
  target_link_libraries(${name} PRIVATE tiersim_options ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TIERSIM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${test_options_${speed}})
  if(NOT arg_ALONE)
    set(TIERSIM_UNITY_SIZE 32) # most folders are one unit; there are many to keep the cores busy
    tiersim_unity(${name} test_${speed})
  endif()
  if(TIERSIM_TESTS_TOGETHER AND NOT layer STREQUAL kernels)
    add_test(NAME ${layer}.${name} COMMAND ${name})
    set_tests_properties(${layer}.${name} PROPERTIES LABELS "${layer};${folder};${arg_LABELS}"
      TIMEOUT 1800)
    return()
  endif()
  # gtest_discover_tests would keep only the first label of a list, so ctest sets them when it starts.
  set(labels "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
  set(code "")
  foreach(when IN LISTS arg_LABELS)
    set(prefix "${layer}.")
    set(properties TIMEOUT ${arg_TIMEOUT})
    if(when STREQUAL nightly)
      string(APPEND prefix "nightly.")
      list(APPEND properties ENVIRONMENT TIERSIM_NIGHTLY=1)
    endif()
    gtest_discover_tests(${name} TEST_PREFIX "${prefix}" TEST_LIST ${name}_${when}
      DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES PROPERTIES ${properties})
    string(APPEND code "foreach(test IN LISTS ${name}_${when})
  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${layer};${folder};${when}\")
endforeach()
")
  endforeach()
  file(CONFIGURE OUTPUT "${labels}" CONTENT "${code}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
endfunction()
