# The folder of the program, and the files of `cmake --install`. The manual page and the shell
# completions are printed by the program itself, so that they always match it.
if(NOT TARGET tiersim_cli)
  return()
endif()
set_target_properties(tiersim_cli PROPERTIES
  OUTPUT_NAME tiersim RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

# tiersim_printed(<file> <argument> ...): `tiersim <argument> ...` > <file>, at build time
function(tiersim_printed file)
  get_filename_component(folder "${file}" DIRECTORY)
  add_custom_command(OUTPUT "${file}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND tiersim_cli ${ARGN} > "${file}.new"
    COMMAND ${CMAKE_COMMAND} -E rename "${file}.new" "${file}"
    DEPENDS tiersim_cli VERBATIM)
endfunction()

set(shared_files "${PROJECT_BINARY_DIR}/share")
tiersim_printed("${shared_files}/tiersim.1" man)
tiersim_printed("${shared_files}/tiersim.bash" completion bash)
tiersim_printed("${shared_files}/_tiersim" completion zsh)
tiersim_printed("${shared_files}/tiersim.fish" completion fish)
# The program with all files installed beside it; the front door builds this target.
add_custom_target(tiersim_program ALL DEPENDS
  "${shared_files}/tiersim.1" "${shared_files}/tiersim.bash"
  "${shared_files}/_tiersim" "${shared_files}/tiersim.fish")

set(program COMPONENT tiersim) # the package of the program; TiersimPackage.cmake has the others
install(TARGETS tiersim_cli RUNTIME ${program})
install(DIRECTORY configs DESTINATION "${CMAKE_INSTALL_DATADIR}/tiersim" ${program}
  PATTERN "*.sbatch" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
install(DIRECTORY reports/targets DESTINATION "${CMAKE_INSTALL_DATADIR}/tiersim/reports" ${program})
install(FILES "${shared_files}/tiersim.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" ${program})
install(FILES "${shared_files}/tiersim.bash" RENAME tiersim
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" ${program})
install(FILES "${shared_files}/_tiersim"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" ${program})
install(FILES "${shared_files}/tiersim.fish"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" ${program})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" ${program})
