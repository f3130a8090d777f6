//! The forms in which compilers, linkers, CMake and `idf.py` report what is wrong, as patterns.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The patterns; a pattern that does not compile would find nothing, which the tests notice.
pub(super) struct Patterns {
    /// `file:line:column: error: message`, of compilers and assemblers.
    pub compiler: Option<Regex>,
    /// The line that includes the file of what follows.
    pub included: Option<Regex>,
    /// `file: In function 'f':` and its like.
    pub context: Option<Regex>,
    /// A line that a template is needed in.
    pub required: Option<Regex>,
    /// A line that a function is inlined in.
    pub inlined: Option<Regex>,
    /// What a program of the compiler says without a place, such as that the disk is full.
    pub program: Option<Regex>,
    /// What any linker says of itself.
    pub linker: Option<Regex>,
    pub linker_line: Option<Regex>,
    pub linker_object: Option<Regex>,
    /// `file:line: message`, of a linker script.
    pub linker_place: Option<Regex>,
    /// An object in an archive of a component.
    pub archived: Option<Regex>,
    /// Where LLD found a symbol.
    pub lld_place: Option<Regex>,
    pub cmake: Option<Regex>,
    /// The beginning of [`Self::cmake`] when the line was wrapped behind the place.
    pub cmake_wrapped: Option<Regex>,
    pub call: Option<Regex>,
    /// Errors of Kconfig files with their place.
    pub kconfig: Option<Regex>,
    pub kconfig_end: Option<Regex>,
    /// Warnings of Kconfig, and what newer releases call notes.
    pub kconfig_warning: Option<Regex>,
    pub defined_at: Option<Regex>,
    pub assigned_in: Option<Regex>,
    /// The place that begins a message of Kconfig.
    pub kconfig_place: Option<Regex>,
    pub partition: Option<Regex>,
    pub plain: Option<Regex>,
    /// What ends `idf.py` before it starts anything; it has no prefix.
    pub fatal: Option<Regex>,
    /// What ends `arduino-cli`.
    pub arduino: Option<Regex>,
    /// A frame of a Python traceback.
    pub frame: Option<Regex>,
    pub exception: Option<Regex>,
    /// A step of ninja.
    pub step: Option<Regex>,
    /// A step of a build within the build, such as that of the bootloader.
    pub subproject: Option<Regex>,
    pub object_of: Option<Regex>,
    pub csv_line: Option<Regex>,
    pub kconfig_file: Option<Regex>,
}

pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let regex = |text: &str| Regex::new(text).ok();
    Patterns {
        compiler: regex(
            r"^((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d+):(?:(\d+):)? (fatal error|[Ee]rror|Fatal error|[Ww]arning|note|sorry, unimplemented|internal compiler error): (.*)$",
        ),
        included: regex(r"^(?:In file included from|\s+from) (.+?):(\d+)(?::\d+)?[:,]$"),
        context: regex(
            r"^(?:([^\s:][^:]*): )?(?:In (?:function|member|static|constructor|destructor|copy|move|lambda|instantiation|substitution|program|non-member|virtual)|At (?:global|top)) ?.*[:,]$",
        ),
        required: regex(
            r"^([^\s:][^:]*):(\d+):(?:(\d+):)?\s+(?:recursively )?required (?:from|by) ",
        ),
        inlined: regex(r"^\s+inlined from .* at (.+?):(\d+)(?::(\d+))?[:,]$"),
        program: regex(
            r"^(?:\S*/)?(?:cc1(?:plus|obj)?|as|collect2|lto1|lto-wrapper|cc|c\+\+|[\w.-]*(?:gcc|g\+\+|clang|clang\+\+)(?:-[\d.]+)?)(?:\.exe)?: (fatal error|error|warning|internal compiler error): (.*)$",
        ),
        linker: regex(r"^(?:\S*/)?(?:[\w.-]+-)?(?:ld|mold)(?:\.\w+)?(?:\.exe)?: ?(.*)$"),
        linker_line: regex(
            r"^(?:.*:)?([^:()\s][^:()]*):(\d+):(?:\([^)]*\):)? ((?:error: )?(?:warning: .*|undefined reference to .*|multiple definition of .*|relocation truncated to fit.*|dangerous relocation.*))$",
        ),
        linker_object: regex(
            r"^(.*?):\([^)]*\): ((?:error: )?(?:warning: .*|undefined reference to .*|multiple definition of .*|relocation truncated to fit.*|dangerous relocation.*))$",
        ),
        linker_place: regex(r"^([^\s:()][^:()]*):(\d+): (.*)$"),
        archived: regex(r"lib([\w.-]+)\.a\(([^()]+?)\.(?:obj|o)\)$|(?:^|/)([^/()]+?)\.(?:obj|o)$"),
        lld_place: regex(r"^>>> (?:referenced by|defined at) (?:.*\()?([^\s:()]+):(\d+)\)?"),
        cmake: regex(
            r"^CMake (Error|Warning|Deprecation Warning|Deprecation Error|Internal Error)(?: \(dev\))?(?: (?:at|in) (.+?)(?::(\d+))?(?: \([^)]*\))?)?:(?:\s+(.*))?$",
        ),
        cmake_wrapped: regex(
            r"^CMake (?:Error|Warning|Deprecation Warning|Deprecation Error)(?: \(dev\))? (?:at|in) \S+:\d+$",
        ),
        call: regex(r"^\s+(\S.*?):(\d+)(?: \([^)]*\))?$"),
        kconfig: regex(r"^(?:ERROR: |[\w.]*KconfigError: )([^\s:][^:]*):(\d+): (?:error: )?(.*)$"),
        kconfig_end: regex(
            r"^(?:ERROR: |[\w.]*KconfigError: )(?:error: )?(expected \w+ at end of (.+?))$",
        ),
        kconfig_warning: regex(r"^(warning|WARNING|NOTE): (.*)$"),
        defined_at: regex(r"\(defined at ([^:()]+):(\d+)\)"),
        assigned_in: regex(r"^unknown kconfig symbol '[^']*' assigned to '.*' in (.+)$"),
        kconfig_place: regex(r"^(/[^:]+|[^\s:]*Kconfig[^\s:]*):(\d+): (?:[Ww]arning: )?(.*)$"),
        partition: regex(
            r"^(?:[Ww]arning|WARNING): (.*partitions? (?:is|are) (?:nearly full|too small).*)$",
        ),
        plain: regex(
            r"^(?:ERROR|FATAL ERROR|Error|A fatal error occurred|A serial exception error occurred|Fatal error): (.+)$",
        ),
        fatal: regex(
            r"^(?:Project sdkconfig '.*' was generated for target '|Target settings are not consistent: |(?:Target )?'.*' (?:specified on command line is not consistent with |is currently active in the environment while the project was configured with )|Build is configured for generator '|Build directory '.*' configured for project '|CMakeLists\.txt not found in project directory |Project directory .* does not exist|Directory '.*' doesn't seem to be a CMake build directory|Refusing to automatically delete files in directory |command .* is not known to idf\.py and is not a |To use .*, either the '.*' or '.*' build tool must be available|.* must be available on the PATH to use |Cannot load .*project_description\.json: |.* is still in preview\. You have to append |Setting the build directory to the project directory is not supported|An exception occurred during detection of the serial port: |Environment variable IDF_PY_BUILD_JOBS must be |Support for Unicode filenames is required|The following Python requirements are not satisfied:).*$",
        ),
        arduino: regex(
            r"^((?:Error (?:during build|initializing instance|resolving FQBN|opening sketch|loading hardware platform|compiling sketch)|Invalid FQBN|Can't open sketch|Unknown FQBN|Platform '[^']*' not found|Missing FQBN|Sketch too big|Not enough memory|(?:data|text) section exceeds available space in board).*)$",
        ),
        frame: regex(r#"^\s+File "([^"]+)", line (\d+)(, in .*)?$"#),
        exception: regex(r"^([A-Za-z_][\w.]*)(?:: (.*))?$"),
        step: regex(r"^\[(\d+)/(\d+)\] (.*)$"),
        subproject: regex(r"^Performing (?:configure|build) step for '([\w.-]+)'"),
        object_of: regex(
            r"Building \w+ object esp-idf/([\w.-]+)/CMakeFiles/__idf_[\w.-]+\.dir/(\S+?)\.(?:obj|o)$",
        ),
        csv_line: regex(r"(?i)\bat line (\d+)"),
        kconfig_file: regex(r"^Loading defaults file (.+?)\.\.\.$"),
    }
});

pub(super) fn captures<'t>(pattern: Option<&Regex>, text: &'t str) -> Option<Captures<'t>> {
    pattern?.captures(text)
}

pub(super) fn is_match(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_some_and(|pattern| pattern.is_match(text))
}

pub(super) fn group<'t>(captures: &Captures<'t>, index: usize) -> &'t str {
    captures.get(index).map_or("", |found| found.as_str())
}

pub(super) fn number(captures: &Captures<'_>, index: usize) -> Option<u32> {
    group(captures, index).parse().ok()
}
