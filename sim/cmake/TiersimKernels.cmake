# Targets of kernels/: CUDA sources compiled as C++ against the emulator.

# TIERSIM_CUDA_TYPES: the emulator takes vector and bf16 types from the toolkit's headers if they
# are present (AUTO), never (OFF), or always (ON). Both give the same bits (tests/kernels/emulator).
set(TIERSIM_CUDA_TYPES AUTO CACHE STRING "types of the CUDA toolkit in the emulator: AUTO, ON, OFF")
find_path(TIERSIM_CUDA_INCLUDE cuda_bf16.h PATHS /usr/local/cuda/include)
mark_as_advanced(TIERSIM_CUDA_INCLUDE)

add_library(tiersim_cuda_types INTERFACE)
if(TIERSIM_CUDA_TYPES STREQUAL "ON" AND NOT TIERSIM_CUDA_INCLUDE)
  message(FATAL_ERROR "TIERSIM_CUDA_TYPES is ON, but cuda_bf16.h is not found")
endif()
if(TIERSIM_CUDA_INCLUDE AND NOT TIERSIM_CUDA_TYPES STREQUAL "OFF")
  target_include_directories(tiersim_cuda_types SYSTEM INTERFACE "${TIERSIM_CUDA_INCLUDE}")
  target_compile_definitions(tiersim_cuda_types INTERFACE TS_EMULATOR_CUDA_TYPES)
endif()

# tiersim_kernel_library(<name> SOURCES <.cu or .cpp> ... DEPS ...): tiersim::kernels_<name>.
function(tiersim_kernel_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  set(cuda_sources ${arg_SOURCES})
  list(FILTER cuda_sources INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX)
  add_library(tiersim_kernels_${name} STATIC ${arg_SOURCES})
  add_library(tiersim::kernels_${name} ALIAS tiersim_kernels_${name})
  target_link_libraries(tiersim_kernels_${name} PUBLIC tiersim_emulator ${arg_DEPS})
  # Many instantiated templates: compiling them takes longer than running them.
  target_compile_options(tiersim_kernels_${name} PRIVATE "$<$<CONFIG:Release>:-O1>")
endfunction()
