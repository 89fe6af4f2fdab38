# TIERSIM_PYTHON: the Python module (sim/python).
#   OFF   not built
#   AUTO  built if Python's headers and pybind11 are present (Debian: python3-dev, pybind11-dev)
#   ON    built, or an error
# Included before any library is made, because a module is a shared object and all code in it has to
# be position-independent. Calls within a library stay direct.
set(TIERSIM_PYTHON OFF CACHE STRING "Build the Python module: OFF, AUTO or ON")
set_property(CACHE TIERSIM_PYTHON PROPERTY STRINGS OFF AUTO ON)
set(TIERSIM_HAS_PYTHON OFF)
if(TIERSIM_PYTHON STREQUAL "OFF")
  return()
endif()
if(TIERSIM_PYTHON STREQUAL "ON")
  set(required REQUIRED)
endif()
find_package(Python3 ${required} COMPONENTS Interpreter Development.Module)
set(Python_EXECUTABLE "${Python3_EXECUTABLE}") # for pybind11, which must use the same one
find_package(pybind11 2.10 ${required})
if(Python3_FOUND AND pybind11_FOUND)
  set(TIERSIM_HAS_PYTHON ON)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>")
else()
  message(STATUS "No Python module: python3-dev or pybind11-dev is missing")
endif()
