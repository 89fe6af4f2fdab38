# tiersim_embed(<target> <file> ...): makes each file's text available as `std::string_view name()`
# in namespace tiersim, so that the program needs no file beside itself. The name is "embedded_" and
# the file's name with "_" for ".". The next build picks up a change of the file.
function(tiersim_embed target)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    cmake_path(GET file FILENAME name)
    string(REPLACE "." "_" function "embedded_${name}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    set(generated "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
    set(code "// Made of ${name} by sim/cmake/TiersimEmbed.cmake.
#include <string_view>
namespace tiersim {
std::string_view ${function}();
std::string_view ${function}() {
  return R\"tiersim(${text})tiersim\";
}
}  // namespace tiersim
")
    set(old "")
    if(EXISTS "${generated}")
      file(READ "${generated}" old)
    endif()
    if(NOT old STREQUAL code) # an unchanged file is not compiled again
      file(WRITE "${generated}" "${code}")
    endif()
    target_sources(${target} PRIVATE "${generated}")
  endforeach()
endfunction()
