# cmake -DNPM= -DMODE=AUTO|ON -DLOCK= -DWORK= -DBUNDLE= -DSTAMP= -DABSENT= -P fetch.cmake: fetches
# the packages of the lock file into WORK and combines them into one script, BUNDLE. If that fails,
# MODE decides if it is an error, and ABSENT has the first line of the reason; a stamp is written in
# any case, so that not every build uses the network.
cmake_minimum_required(VERSION 3.25)

macro(give_up reason)
  if(MODE STREQUAL "ON")
    message(FATAL_ERROR "${reason}")
  endif()
  file(REMOVE "${BUNDLE}")
  string(REGEX REPLACE "\n.*" "" first_line "${reason}")
  file(WRITE "${ABSENT}" "${first_line}\n")
  file(WRITE "${STAMP}" "none\n")
  message(NOTICE "No Vega-Lite (${reason}): the charts of `tiersim report html` will stand still; "
    "to try again, remove ${STAMP} and build")
  return()
endmacro()

file(MAKE_DIRECTORY "${WORK}")
file(COPY "${LOCK}/package.json" "${LOCK}/package-lock.json" DESTINATION "${WORK}")
# No script of a package runs. Short time limits, because npm takes minutes to detect a missing
# network.
execute_process(
  COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
    --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=30000
  WORKING_DIRECTORY "${WORK}" TIMEOUT 120 RESULT_VARIABLE result OUTPUT_VARIABLE talk ERROR_VARIABLE talk)
if(NOT result EQUAL 0)
  string(SUBSTRING "${talk}" 0 400 talk)
  give_up("npm ci failed (${result})\n${talk}\n")
endif()

# The interpreter is a module; as a script it takes its imports from `vega` and adds itself there.
set(modules "${WORK}/node_modules")
file(READ "${modules}/vega-interpreter/build/vega-interpreter.js" interpreter)
foreach(edge IN ITEMS
    "import { ascending, isString, DisallowedObjectProperties } from 'vega-util'[;]"
    "export { expression as expressionInterpreter }[;]" "//# sourceMappingURL=[^\n]*")
  if(NOT interpreter MATCHES "${edge}")
    give_up("vega-interpreter has no line '${edge}'")
  endif()
  string(REGEX REPLACE "${edge}" "" interpreter "${interpreter}")
endforeach()

# Licences first: they must go with every copy, and every page is a copy.
set(licences "")
foreach(package IN ITEMS vega vega-lite vega-interpreter d3-array)
  file(READ "${modules}/${package}/LICENSE" licence)
  string(APPEND licences "${package}:\n${licence}\n")
endforeach()
file(READ "${modules}/vega/build/vega.min.js" vega)
file(READ "${modules}/vega-lite/build/vega-lite.min.js" vega_lite)
string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" vega_lite "${vega_lite}")
string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" vega "${vega}")
file(WRITE "${BUNDLE}.new" "/*!\n${licences}d3-* and topojson-client likewise: ISC, Mike Bostock\n*/\n" "${vega}\n" "${vega_lite}\n"
  "(() => {\nconst { ascending, isString, DisallowedObjectProperties } = vega;\n" "${interpreter}"
  "\nglobalThis.vegaInterpreter = { expressionInterpreter: expression };\n})();\n")
file(RENAME "${BUNDLE}.new" "${BUNDLE}")
file(REMOVE "${ABSENT}")
file(WRITE "${STAMP}" "fetched\n")
