# The CUDA back end: in each folder the files below cuda/ are linked instead of no_cuda.cpp, and nothing else changes.
# Machine code for six architectures, and PTX of the lowest, which a driver translates for any other card.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "80;86-real;89-real;90-real;100-real;120-real")
endif()
find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin REQUIRED)
enable_language(CUDA)
# CMake 3.25 does not know that nvcc has C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)  # the program starts where there is no driver and no CUDA

foreach(layer IN LISTS layers)
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/cuda/*.cu)
  if(NOT cuda_sources)
    continue()
  endif()
  get_target_property(sources ft_${layer} SOURCES)
  list(FILTER sources EXCLUDE REGEX "/no_cuda\\.cpp$")
  set_target_properties(ft_${layer} PROPERTIES SOURCES "${sources};${cuda_sources}")
  # No contraction that the source does not spell out: the arithmetic of the other back ends.
  target_compile_options(ft_${layer} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror>")
  target_compile_definitions(ft_${layer} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:FT_HD=__host__ __device__>")
endforeach()
