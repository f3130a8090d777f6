//! The forms in which compilers, linkers, CMake and `idf.py` report what is wrong, as patterns.

use regex::Captures;

use crate::text::pattern::Pattern;

/// `file:line:column: error: message`, of compilers and assemblers.
pub(super) static COMPILER: Pattern = Pattern::new(
    r"^((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d+):(?:(\d+):)? (fatal error|[Ee]rror|Fatal error|[Ww]arning|note|sorry, unimplemented|internal compiler error): (.*)$",
);

/// The same as `file(line,column): error: message`.
pub(super) static COMPILER_OTHER: Pattern = Pattern::new(
    r"^((?:[A-Za-z]:[\\/])?[^\s:(][^:(]*)\((\d+)(?:,(\d+))?\) ?: (fatal error|error|warning|note): (.*)$",
);

/// What may report something: `file:line:column: ` or a program of the compiler, and the rest.
pub(super) static REPORTER: Pattern = Pattern::new(
    r"^((?:(?:[A-Za-z]:[\\/])?[^\s:][^:]*:\d+:(?:\d+:)?|(?:\S*/)?(?:cc1(?:plus|obj)?|collect2|lto1|[\w.-]*(?:gcc|g\+\+|cc|c\+\+)(?:-[\d.]+)?):) )(.*)$",
);

/// A program that make started did not succeed: what it was to make, in any language.
pub(super) static MAKE_FAILED: Pattern = Pattern::new(
    r"^(?:\S*/)?(?:\w+-)?g?make(?:\.exe)?(?:\[\d+\])?: [*•]{2,3}[ \u{a0}]\[(?:[^\[\]]*?[:：] ?)?([^\[\]]+)\] \S+ \d+",
);

/// Make cannot go on, with the line of a makefile or without one.
pub(super) static MAKE_STOPPED: Pattern = Pattern::new(
    r"^(?:(?:\S*/)?(?:\w+-)?g?make(?:\.exe)?(?:\[\d+\])?|([^\s:][^:]*):(\d+)): [*•]{2,3} +([^\[\s].*?)[.。]?(?:  \S+)?$",
);

/// The word with which make stops, behind a sentence, in any language.
pub(super) static MAKE_STOP_WORD: Pattern = Pattern::new(r"[.。] {1,2}\S+$");

/// A name in the quotes of any language.
pub(super) static QUOTED: Pattern =
    Pattern::new(r#"[`'‘‚„“”«»「"]\s?([^`'‘’‚„“”«»「」"]+?)\s?['’“”«»」"]"#);

/// Make speaks of itself or of a program: what it says, behind the program's name if there is one.
pub(super) static MAKE_SAYS: Pattern =
    Pattern::new(r"^(?:\S*/)?(?:\w+-)?g?make(?:\.exe)?(?:\[\d+\])?: (?:(\S+): )?[^*•]");

/// Make begins or ends its work in a folder: its level and the folder, in any language.
pub(super) static MAKE_FOLDER: Pattern = Pattern::new(
    r"^(?:\S*/)?g?make(?:\[(\d+)\])?: [^*].*?[`'‘„“«»「]\s?(/[^`'’“”«»」]+?)\s?['’“”«»」]",
);

/// What programs say when something is wrong.
pub(super) static FAULT: Pattern = Pattern::new(
    r"(?i)^\S.*\b(?:errors?|fatal|cannot|can't|could not|couldn't|not found|no such|missing|invalid|failed|failure|denied|unable|unknown|unsupported|exception|unexpected|segmentation fault|aborted)\b",
);

/// What has such words and says nothing of the kind: checks, numbers of errors, steps.
pub(super) static NO_FAULT: Pattern = Pattern::new(
    r"(?i)^(?:-- |\[|scanning |ninja: |(?:\S*/)?(?:\w+-)?g?make(?:\[\d+\])?: |fatal: not a git repository)|\b(?:0|no) (?:errors?|failed|failures?)\b|[:=] ?0\b",
);

/// What a program says under its name.
pub(super) static STATED_BY: Pattern = Pattern::new(r"^[\w./+-]+: \S.* \S");

/// A makefile includes a file that is not there.
pub(super) static MAKE_INCLUDE: Pattern = Pattern::new(
    r"^([^\s:]*(?:[Mm]akefile|\.mk|\.mak|\.make)[^\s:]*):(\d+): (\S+): No such file or directory$",
);

/// A line of a shell script that failed.
pub(super) static SCRIPT: Pattern = Pattern::new(r"^([^\s:][^:]*): ?(?:line )?(\d+): (.+)$");

/// The description of a build that ninja cannot read.
pub(super) static NINJA_FILE: Pattern =
    Pattern::new(r"^ninja: error: ([^\s:][^:]*\.ninja):(\d+): (.+)$");

/// An exception that a program names without saying where.
pub(super) static NAMED_EXCEPTION: Pattern =
    Pattern::new(r"^(?:[a-z_]\w*\.)*(?:[A-Z][a-z0-9]+)+(?:Error|Exception): (.+)$");

/// The line that includes the file of what follows.
pub(super) static INCLUDED: Pattern =
    Pattern::new(r"^(?:In file included from|\s+from) (.+?):(\d+)(?::\d+)?[:,]$");

/// `file: In function 'f':` and its like.
pub(super) static CONTEXT: Pattern = Pattern::new(
    r"^(?:((?:[A-Za-z]:[\\/])?[^\s:][^:]*): )?(?:In (?:function|member|static|constructor|destructor|copy|move|lambda|instantiation|substitution|program|non-member|virtual)|At (?:global|top)) ?.*[:,]$",
);

/// A line that a template is needed in.
pub(super) static REQUIRED: Pattern = Pattern::new(
    r"^((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d+):(?:(\d+):)?(?:\s+(?:recursively )?required (?:from|by) |   ?[^\sA-Z])",
);

/// A line that a function is inlined in.
pub(super) static INLINED: Pattern =
    Pattern::new(r"^\s+inlined from .* at (.+?):(\d+)(?::(\d+))?[:,]$");

/// What a program of the compiler says without a place, such as that the disk is full.
pub(super) static PROGRAM: Pattern = Pattern::new(
    r"^(?:\S*/)?(?:cc1(?:plus|obj)?|as|collect2|lto1|lto-wrapper|s?ccache|distcc|cc|c\+\+|[\w.-]*(?:gcc|g\+\+|clang|clang\+\+)(?:-[\d.]+)?)(?:\.exe)?: (fatal error|error|warning|internal compiler error): (.*)$",
);

/// What other programs of a build say when they end.
pub(super) static TOOL: Pattern = Pattern::new(
    r"^(?:\S*/)?((?:[\w.-]+-)?(?:ar|ranlib|objcopy|strip|nm|size|make)(?:\.exe)?)(?:\[\d+\])?: ([^*].*(?:[Nn]o such file|not recognized|[Cc]annot |[Cc]an't |[Nn]o space left|[Pp]ermission denied|truncated|malformed|command not found).*)$",
);

/// What any linker says of itself.
pub(super) static LINKER: Pattern =
    Pattern::new(r"^(?:\S*/)?(?:[\w.-]+-)?(?:ld|mold)(?:\.\w+)?(?:\.exe)?[ \u{a0}]?[:：] ?(.*)$");

pub(super) static LINKER_LINE: Pattern = Pattern::new(
    r"^(?:.*:)?([^:()\s][^:()]*):(\d+):(?:\([^)]*\):)? ((?:error: )?(?:warning: .*|undefined reference to .*|multiple definition of .*|relocation truncated to fit.*|dangerous relocation.*))$",
);

pub(super) static LINKER_OBJECT: Pattern = Pattern::new(
    r"^(.*?):\([^)]*\): ((?:error: )?(?:warning: .*|undefined reference to .*|multiple definition of .*|relocation truncated to fit.*|dangerous relocation.*))$",
);

/// `file:line: message` in any language, with the object before it if the linker names one.
pub(super) static LINKER_LINE_ANY: Pattern = Pattern::new(
    r"^(?:[^:]*?\.(?:o|obj)\)?[ \u{a0}]?:[ \u{a0}]?)?((?:[A-Za-z]:[\\/])?[^\s:()][^:()]*?)[ \u{a0}]?:(\d+)(?:[ \u{a0}]?:\([^)]*\))?[ \u{a0}]?[:：][ \u{a0}]?(.+)$",
);

/// `object:(section+offset): message` in any language.
pub(super) static LINKER_OBJECT_ANY: Pattern =
    Pattern::new(r"^(.*?)[ \u{a0}]?:\(\.[^)]*\+0x[0-9a-f]+\)[ \u{a0}]?[:：][ \u{a0}]?(.+)$");

/// How a linker begins a warning.
pub(super) static LINKER_WARNING: Pattern = Pattern::new(
    r"^(?:(?:.*?[^\s:][ \u{a0}]?: )?)(?i:warning|warnung|avertissement|attention|aviso|attenzione|advarsel|varning|varoitus|peringatan|rabhadh|uyarı|предупреждение|попередження|упозорење|cảnh báo|警告)[ \u{a0}]?[:：][ \u{a0}]?(.*)$",
);

/// The program that starts the linker says that it failed, in any language.
pub(super) static LINK_FAILED: Pattern =
    Pattern::new(r"^(?:\S*/)?collect2(?:\.exe)?[ \u{a0}]?[:：].*\bld\b.*\d|linker command failed");

/// `file:line: message`, of a linker script.
pub(super) static LINKER_PLACE: Pattern = Pattern::new(r"^([^\s:()][^:()]*):(\d+):? (.*)$");

/// `file:line: message`, of a linker script, without the linker's name before it.
pub(super) static LINKER_SCRIPT: Pattern =
    Pattern::new(r"^([^\s:()][^:()]*\.(?:ld|lds|ld\.in)):(\d+): (.+)$");

/// An object in an archive of a component.
pub(super) static ARCHIVED: Pattern = Pattern::new(r"lib([\w.-]+)\.a\(([^()]+?)\.(?:obj|o)\)$");

/// The function of an object that the next lines are about.
pub(super) static IN_FUNCTION: Pattern =
    Pattern::new(r"^(?:\S*\bld(?:\.\w+)?(?:\.exe)?: ?)?(\S.*?): [Ii]n function [`'‘].*[:]$");

/// The function of an object that the next lines are about, in any language.
pub(super) static IN_OBJECT: Pattern = Pattern::new(
    r#"^(?:\S*\bld(?:\.\w+)?(?:\.exe)?[ \u{a0}]?[:：] ?)?(\S.*?\.(?:o|obj)\)?)[ \u{a0}]?[:：] ?\D[^:：]*[`'‘„“”«»「"].+[:：]$"#,
);

/// An object of a component of ESP-IDF, without its end.
pub(super) static IDF_OBJECT: Pattern =
    Pattern::new(r"(?:^|/)esp-idf/([\w.-]+)/CMakeFiles/__idf_[\w.-]+\.dir/(.+)$");

/// An object in a folder of CMake, PlatformIO or `arduino-cli`, without its end: the folder of the
/// list, and the source below it.
pub(super) static BUILT_OBJECT: Pattern = Pattern::new(
    r"^(?:(.*/)?CMakeFiles/[^/]+\.dir/|(?:.*/)?\.pio/build/[^/]+/|(?:/.*/)?sketch/)(.+)$",
);

/// Where LLD found a symbol.
pub(super) static LLD_PLACE: Pattern =
    Pattern::new(r"^>>> (?:referenced by|defined at) (?:.*\()?([^\s:()]+):(\d+)\)?");

pub(super) static CMAKE: Pattern = Pattern::new(
    r"^CMake (Error|Warning|Deprecation Warning|Deprecation Error|Internal Error)(?: \(dev\))?(?: (?:at|in) (.+?)(?::(\d+))?(?: \([^)]*\))?)?:(?:\s+(.*))?$",
);

/// The beginning of [`CMAKE`] when the line was wrapped behind the place.
pub(super) static CMAKE_WRAPPED: Pattern = Pattern::new(
    r"^CMake (?:Error|Warning|Deprecation Warning|Deprecation Error)(?: \(dev\))? (?:at|in) \S+:\d+$",
);

/// Where a file of presets is wrong, in the two forms of CMake.
pub(super) static PRESET_PLACE: Pattern =
    Pattern::new(r"^(?:\* Line |Error: @)(\d+)(?:, Column |,)(\d+):?(.*)$");

pub(super) static CALL: Pattern = Pattern::new(r"^\s+(\S.*?):(\d+)(?: \([^)]*\))?$");

/// Errors of Kconfig files with their place.
pub(super) static KCONFIG: Pattern =
    Pattern::new(r"^(?:ERROR: |[\w.]*KconfigError: )([^\s:][^:]*):(\d+): (?:error: )?(.*)$");

pub(super) static KCONFIG_END: Pattern =
    Pattern::new(r"^(?:ERROR: |[\w.]*KconfigError: )(?:error: )?(expected \w+ at end of (.+?))$");

/// Warnings of Kconfig, and what newer releases call notes.
pub(super) static KCONFIG_WARNING: Pattern = Pattern::new(r"^(warning|WARNING|NOTE): (.*)$");

pub(super) static DEFINED_AT: Pattern = Pattern::new(r"\(defined at ([^:()]+):(\d+)\)");

pub(super) static ASSIGNED_IN: Pattern =
    Pattern::new(r"^unknown kconfig symbol '[^']*' assigned to '.*' in (.+)$");

/// The place that begins a message of Kconfig.
pub(super) static KCONFIG_PLACE: Pattern =
    Pattern::new(r"^(/[^:]+|[^\s:]*Kconfig[^\s:]*):(\d+): (?:[Ww]arning: )?(.*)$");

pub(super) static PARTITION: Pattern = Pattern::new(
    r"^(?:[Ww]arning|WARNING): (.*partitions? (?:is|are) (?:nearly full|too small).*)$",
);

pub(super) static PLAIN: Pattern = Pattern::new(
    r"^(?:ERROR|FATAL ERROR|Error|A fatal error occurred|A serial exception error occurred|Fatal error): (.+)$",
);

/// What ends `idf.py` before it starts anything; it has no prefix.
pub(super) static FATAL: Pattern = Pattern::new(
    r"^(?:Project sdkconfig '.*' was generated for target '|Target settings are not consistent: |(?:Target )?'.*' (?:specified on command line is not consistent with |is currently active in the environment while the project was configured with )|Build is configured for generator '|Build directory '.*' configured for project '|CMakeLists\.txt not found in project directory |Project directory .* does not exist|Directory '.*' doesn't seem to be a CMake build directory|Refusing to automatically delete files in directory |command .* is not known to idf\.py and is not a |To use .*, either the '.*' or '.*' build tool must be available|.* must be available on the PATH to use |Cannot load .*project_description\.json: |.* is still in preview\. You have to append |Setting the build directory to the project directory is not supported|An exception occurred during detection of the serial port: |Environment variable IDF_PY_BUILD_JOBS must be |Support for Unicode filenames is required|The following Python requirements are not satisfied:).*$",
);

/// What ends `arduino-cli`.
pub(super) static ARDUINO: Pattern = Pattern::new(
    r"^((?:Error (?:during build|initializing instance|resolving FQBN|opening sketch|loading hardware platform|compiling sketch)|Invalid FQBN|Can't open sketch|Unknown FQBN|Platform '[^']*' not found|Missing FQBN|Sketch too big|Not enough memory|(?:data|text) section exceeds available space in board).*)$",
);

/// A frame of a Python traceback.
pub(super) static FRAME: Pattern = Pattern::new(r#"^\s+File "([^"]+)", line (\d+)(, in .*)?$"#);

pub(super) static EXCEPTION: Pattern = Pattern::new(r"^([A-Za-z_][\w.]*)(?:: (.*))?$");

/// A step of ninja.
pub(super) static STEP: Pattern = Pattern::new(r"^\[(\d+)/(\d+)\] (.*)$");

/// A step of a build within the build, such as that of the bootloader.
pub(super) static SUBPROJECT: Pattern =
    Pattern::new(r"^Performing (?:configure|build) step for '([\w.-]+)'");

pub(super) static OBJECT_OF: Pattern = Pattern::new(
    r"Building \w+ object esp-idf/([\w.-]+)/CMakeFiles/__idf_[\w.-]+\.dir/(\S+?)\.(?:obj|o)$",
);

/// An object of a target of CMake while it is made: the folder of the list, the target, and the source.
pub(super) static OBJECT_OF_TARGET: Pattern =
    Pattern::new(r"Building \w+ object ((?:\S*/)?)CMakeFiles/([^/]+)\.dir/(\S+?)\.(?:obj|o)$");

pub(super) static CSV_LINE: Pattern = Pattern::new(r"(?i)\bat line (\d+)");

pub(super) static KCONFIG_FILE: Pattern = Pattern::new(r"^Loading defaults file (.+?)\.\.\.$");

pub(super) fn group<'t>(captures: &Captures<'t>, index: usize) -> &'t str {
    captures.get(index).map_or("", |found| found.as_str())
}

pub(super) fn number(captures: &Captures<'_>, index: usize) -> Option<u32> {
    group(captures, index).parse().ok()
}
