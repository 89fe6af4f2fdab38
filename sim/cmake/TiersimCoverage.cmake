# Target coverage_report: the coverage of the tests that have run so far, as text and as pages. Used
# by the coverage preset, whose flags write the counters.
option(TIERSIM_COVERAGE "add the target coverage_report (needs gcovr)" OFF)
if(TIERSIM_COVERAGE)
  find_program(GCOVR gcovr REQUIRED)
  set(coverage_dir "${PROJECT_BINARY_DIR}/coverage_report")
  add_custom_target(coverage_report
    COMMAND ${CMAKE_COMMAND} -E make_directory "${coverage_dir}"
    COMMAND "${GCOVR}" --root "${PROJECT_SOURCE_DIR}" --object-directory "${PROJECT_BINARY_DIR}"
      --filter "${PROJECT_SOURCE_DIR}/(sim|hwmodels|workloads|reports)/"
      --exclude-throw-branches --print-summary --fail-under-line 1 # an empty report is a failure
      --txt "${coverage_dir}/coverage.txt" --html-details "${coverage_dir}/index.html"
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
    COMMENT "Coverage: ${coverage_dir}/index.html" VERBATIM)
endif()
