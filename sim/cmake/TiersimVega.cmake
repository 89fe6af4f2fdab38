# The interactive layer of `tiersim report html`: Vega, Vega-Lite and Vega's interpreter of
# expressions (which needs no eval, so that a page may forbid it), with the versions and digests of
# sim/cmake/vega/package-lock.json. `npm ci` fetches them into the build folder; they are never
# committed. The program finds <build>/share/tiersim/vega.js, or the installed file beside itself.
# Where there is none, the build says so, and <build>/vega/absent has the reason for the front door.
#   AUTO (default)  if npm is found; without npm or network pages are complete, but not interactive
#   ON              a build that cannot fetch it fails
#   OFF             nothing is fetched
set(TIERSIM_VEGA AUTO CACHE STRING "fetch Vega-Lite for interactive pages: AUTO, ON, OFF")
set(vega_absent "${PROJECT_BINARY_DIR}/vega/absent")
if(TIERSIM_VEGA STREQUAL "OFF")
  file(REMOVE "${vega_absent}")
  return()
endif()
find_program(TIERSIM_NPM npm)
mark_as_advanced(TIERSIM_NPM)
if(NOT TIERSIM_NPM)
  if(TIERSIM_VEGA STREQUAL "ON")
    message(FATAL_ERROR "TIERSIM_VEGA is ON, but npm is not found")
  endif()
  set(reason "npm is not found")
  file(WRITE "${vega_absent}" "${reason}\n")
  message(NOTICE "No Vega-Lite (${reason}): the charts of `tiersim report html` will stand still")
  return()
endif()

set(vega_stamp "${PROJECT_BINARY_DIR}/vega/fetched")
set(vega_bundle "${PROJECT_BINARY_DIR}/share/tiersim/vega.js")
add_custom_command(OUTPUT "${vega_stamp}"
  COMMAND ${CMAKE_COMMAND} "-DNPM=${TIERSIM_NPM}" "-DMODE=${TIERSIM_VEGA}"
    "-DLOCK=${PROJECT_SOURCE_DIR}/sim/cmake/vega" "-DWORK=${PROJECT_BINARY_DIR}/vega"
    "-DBUNDLE=${vega_bundle}" "-DSTAMP=${vega_stamp}" "-DABSENT=${vega_absent}"
    -P "${PROJECT_SOURCE_DIR}/sim/cmake/vega/fetch.cmake"
  DEPENDS "${PROJECT_SOURCE_DIR}/sim/cmake/vega/package.json"
    "${PROJECT_SOURCE_DIR}/sim/cmake/vega/package-lock.json"
    "${PROJECT_SOURCE_DIR}/sim/cmake/vega/fetch.cmake"
  COMMENT "Vega-Lite for interactive pages" VERBATIM)
add_custom_target(tiersim_vega ALL DEPENDS "${vega_stamp}")
if(TARGET tiersim_program)
  add_dependencies(tiersim_program tiersim_vega)
endif()
install(FILES "${vega_bundle}" DESTINATION "${CMAKE_INSTALL_DATADIR}/tiersim" OPTIONAL
  COMPONENT tiersim)
