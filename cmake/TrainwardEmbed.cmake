# trainward_embed(<symbol> <file> <assembly> <declarations>): what puts a file's bytes where constants
# are, whatever its size: `asm(...)` for a source, and `extern const char SYMBOL[], SYMBOL_end[];` for
# extern "C". Both are added to the variables named. Behind the last byte stands a zero. The source
# must not be compiled with others (SKIP_UNITY_BUILD_INCLUSION) and depends on the file
# (OBJECT_DEPENDS).
function(trainward_embed symbol file into_assembly into_declarations)
  string(APPEND ${into_assembly}
    "asm(\".pushsection .rodata\\n.global ${symbol}, ${symbol}_end\\n\"\n"
    "    \"${symbol}:\\n.incbin \\\"${file}\\\"\\n${symbol}_end:\\n.byte 0\\n.popsection\");\n")
  string(APPEND ${into_declarations} "extern const char ${symbol}[], ${symbol}_end[];\n")
  set(${into_assembly} "${${into_assembly}}" PARENT_SCOPE)
  set(${into_declarations} "${${into_declarations}}" PARENT_SCOPE)
endfunction()
