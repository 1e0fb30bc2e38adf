# One unit for each instruction set, compiled from the same generic sources with that set's flags. -O2 even in debug builds:
# an unoptimised kernel tells nothing, and always-inline functions must really be inlined.
#
# GCC 12 warns falsely about values inside its own AVX-512 intrinsics (its bug 105593).
set(ft_isa_warnings $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

# Clang takes a quarter of an hour to check every step of a unit of unrolled vectors for undefined behaviour, and minutes for
# addresses. These units check addresses only, by calls; the scalar one, of the same generic sources, checks all.
set(ft_isa_checks)
if(CMAKE_CXX_FLAGS MATCHES "fsanitize=address")
  set(ft_isa_checks -fno-sanitize=undefined -mllvm -asan-instrumentation-with-call-threshold=0)
endif()

function(ft_isa set)
  set(unit ${CMAKE_SOURCE_DIR}/src/kernels/cpu/isa_${set}.cpp)
  target_sources(ft_kernels PRIVATE ${unit})
  set_source_files_properties(${unit} TARGET_DIRECTORY ft_kernels PROPERTIES COMPILE_OPTIONS "-O3;${ft_isa_warnings};${ARGN}")
endfunction()

ft_isa(scalar)
ft_isa(avx2 ${ft_isa_checks} -mavx2 -mfma -mf16c -mbmi2)
ft_isa(avx_vnni ${ft_isa_checks} -mavx2 -mfma -mf16c -mbmi2 -mavxvnni)
set(avx512 ${ft_isa_checks} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c -mbmi2 -mprefer-vector-width=512)
ft_isa(avx512 ${avx512})
ft_isa(avx512_vnni ${avx512} -mavx512vnni)
ft_isa(avx512_bf16 ${avx512} -mavx512vnni -mavx512bf16)
ft_isa(amx ${avx512} -mavx512vnni -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16)
