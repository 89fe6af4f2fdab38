# Run by cpack on the files of each package before it is made: compressed manual pages and
# changelogs, the copyright file, archives without what only the build needed.

# run(<word> ...): stops where the command fails.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The same bytes for the same sources where SOURCE_DATE_EPOCH is set, as Debian's tools have it.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${package}/usr")
  set(documents "${root}/share/doc/${package}")
  file(REMOVE "${documents}/LICENSE") # the copyright file names it
  configure_file("${CPACK_TIERSIM_TEXTS}/copyright" "${documents}/copyright" COPYONLY)
  if(EXISTS "${documents}/CHANGELOG.md")
    file(RENAME "${documents}/CHANGELOG.md" "${documents}/changelog")
  endif()
  file(WRITE "${documents}/changelog.Debian"
"${package} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Built from the sources of release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")
  file(GLOB texts "${documents}/changelog*" "${root}/share/man/man*/*")
  run(gzip -9n ${texts})
  file(GLOB_RECURSE archives "${root}/*.a")
  if(archives)
    run("${CPACK_TIERSIM_STRIP}" --strip-debug --remove-section=.comment --remove-section=.note
      --enable-deterministic-archives ${archives})
  endif()
endforeach()
