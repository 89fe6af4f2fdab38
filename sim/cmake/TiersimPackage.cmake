# The Debian packages: `cmake --workflow --preset package` leaves them in build/package.
#   tiersim          program, configurations, targets, manual page, completions
#   libtiersim-dev   static libraries, headers, find_package(tiersim) with tiersim::<library>
#   python3-tiersim  the Python module, where TIERSIM_PYTHON builds it
# A component of the installation is a package of its name. `sim/cmake/package/` has the texts.

set(TIERSIM_MAINTAINER "tiersim maintainers <maintainers@tiersim.invalid>" CACHE STRING
  "Name <address> that the packages state")

# --- libtiersim-dev: every static library of the simulator, and the headers of all that it has.
function(tiersim_libraries_below folder result)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  set(found "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    tiersim_libraries_below("${subfolder}" below)
    list(APPEND found ${below})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

set(library_folders sim hwmodels workloads reports)
set(libraries "")
foreach(folder IN LISTS library_folders)
  tiersim_libraries_below("${PROJECT_SOURCE_DIR}/${folder}" below)
  list(APPEND libraries ${below})
endforeach()
foreach(target IN LISTS libraries ITEMS tiersim_options)
  string(REPLACE tiersim_ "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()

set(development COMPONENT libtiersim-dev)
set(cmake_files "${CMAKE_INSTALL_LIBDIR}/cmake/tiersim")
install(TARGETS ${libraries} tiersim_options EXPORT tiersim_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" ${development})
install(EXPORT tiersim_targets FILE tiersimTargets.cmake NAMESPACE tiersim::
  DESTINATION "${cmake_files}" ${development})
include(CMakePackageConfigHelpers)
configure_package_config_file(sim/cmake/package/tiersimConfig.cmake.in
  "${PROJECT_BINARY_DIR}/generated/tiersimConfig.cmake" INSTALL_DESTINATION "${cmake_files}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/tiersimConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/generated/tiersimConfig.cmake"
  "${PROJECT_BINARY_DIR}/generated/tiersimConfigVersion.cmake"
  DESTINATION "${cmake_files}" ${development})
foreach(folder IN LISTS library_folders)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${folder}/*.hpp")
  list(FILTER headers EXCLUDE REGEX "^sim/(cli|python)/|/precompiled\\.hpp$")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH parent)
    install(FILES "${header}"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tiersim/${parent}" ${development})
  endforeach()
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/generated/sim/base/version.hpp"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tiersim/sim/base" ${development})

# --- cpack
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tiersim)
set(CPACK_PACKAGE_VENDOR "tiersim")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package begins its description with its own
set(CPACK_PACKAGE_CONTACT "${TIERSIM_MAINTAINER}")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS # whatever the umask of the builder is
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL tiersim libtiersim-dev)
if(TIERSIM_HAS_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python3-tiersim)
endif()
# What Debian asks of a package and an installation has not: sim/cmake/package/stage.cmake.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/sim/cmake/package/stage.cmake")
set(CPACK_TIERSIM_TEXTS "${PROJECT_SOURCE_DIR}/sim/cmake/package")
set(CPACK_TIERSIM_STRIP "${CMAKE_STRIP}")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 0upstream1) # below 1, which is the first of Debian itself
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${TIERSIM_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_TIERSIM_PACKAGE_NAME tiersim)
set(CPACK_DEBIAN_TIERSIM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TIERSIM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TIERSIM_PACKAGE_RECOMMENDS "gnuplot-nox, librsvg2-bin") # figures
set(CPACK_DEBIAN_TIERSIM_PACKAGE_SUGGESTS "libtiersim-dev, python3-tiersim")
set(CPACK_DEBIAN_TIERSIM_DESCRIPTION
"simulator of memory tiers and interconnects for LLM inference
tiersim answers how fast a large language model decodes, and how much
memory it takes, when its keys and values lie in HBM, in a CXL pool,
behind NVLink or in host memory.

Configurations are YAML files. The shipped ones describe GPUs from A100 to
B200, memories, links, models and servers, and say where each number comes
from. The program simulates steps of inference and servers under load,
sweeps design spaces, and reproduces the tables of three papers.")

set(CPACK_DEBIAN_LIBTIERSIM-DEV_PACKAGE_NAME libtiersim-dev)
set(CPACK_DEBIAN_LIBTIERSIM-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBTIERSIM-DEV_PACKAGE_DEPENDS "libfmt-dev, libyaml-cpp-dev, nlohmann-json3-dev, \
libboost-dev, libeigen3-dev, libsqlite3-dev, zlib1g-dev")
set(CPACK_DEBIAN_LIBTIERSIM-DEV_PACKAGE_RECOMMENDS "tiersim ${same_version}") # configurations
set(CPACK_DEBIAN_LIBTIERSIM-DEV_PACKAGE_SUGGESTS cmake)
set(CPACK_DEBIAN_LIBTIERSIM-DEV_DESCRIPTION
"simulator of memory tiers for LLM inference (C++ libraries)
tiersim simulates the memory tiers and interconnects under the inference
of large language models.

This package has the static libraries, the headers, and the files by which
find_package(tiersim) of CMake finds them.")

set(CPACK_DEBIAN_PYTHON3-TIERSIM_PACKAGE_NAME python3-tiersim)
set(CPACK_DEBIAN_PYTHON3-TIERSIM_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-TIERSIM_PACKAGE_SHLIBDEPS ON)
if(TIERSIM_HAS_PYTHON)
  math(EXPR next_minor "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON3-TIERSIM_PACKAGE_DEPENDS "tiersim ${same_version}, \
python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next_minor})")
endif()
set(CPACK_DEBIAN_PYTHON3-TIERSIM_PACKAGE_SUGGESTS "python3-pandas, python3-matplotlib")
set(CPACK_DEBIAN_PYTHON3-TIERSIM_DESCRIPTION
"simulator of memory tiers for LLM inference (Python 3)
tiersim simulates the memory tiers and interconnects under the inference
of large language models.

This package has the Python module, which runs scenarios and returns their
records as dictionaries.")
include(CPack)
