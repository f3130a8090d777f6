//! Which options of a component the system's compiler is given.
//!
//! A compiler can be told by options to run programs and to write files anywhere. Only what changes
//! how C is read, warned about and optimised passes.

/// The options among the arguments of `component_compile_options` or `target_compile_options`.
///
/// # Errors
/// When one is not taken; names it.
pub(super) fn taken(args: impl Iterator<Item = String>) -> Result<Vec<String>, String> {
    let is_keyword = |arg: &String| {
        matches!(arg.as_str(), "PUBLIC" | "PRIVATE" | "INTERFACE" | "BEFORE" | "SYSTEM")
    };
    args.filter(|arg| !is_keyword(arg))
        .map(|arg| {
            if is_taken(&arg) {
                return Ok(arg);
            }
            Err(format!(
                "the virtual board does not accept the option `{arg}`; it accepts -W…, -w, -D…, \
                 -U…, -O…, -g…, -std=… and -f… without a value"
            ))
        })
        .collect()
}

fn is_taken(option: &str) -> bool {
    let mut letters = option.chars().skip(1);
    if !option.starts_with('-') {
        return false;
    }
    match letters.next() {
        // With a comma they go to the preprocessor, the assembler or the linker.
        Some('W') => !option.contains(','),
        Some('D' | 'U') => option.len() > 2,
        // With a value they name plugins, programs and files to write.
        Some('O' | 'g' | 'f') => !option.contains(['=', ',', '/']),
        _ => option == "-w" || option.starts_with("-std="),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_how_c_is_read_passes() {
        for option in [
            "-Wall",
            "-Wno-format",
            "-Werror=unused",
            "-Wframe-larger-than=512",
            "-w",
            "-DA=1",
            "-DNAME=\"a/b\"",
            "-UA",
            "-O2",
            "-g3",
            "-gdwarf-4",
            "-std=gnu17",
            "-fno-strict-aliasing",
        ] {
            assert!(is_taken(option), "{option}");
        }
    }

    #[test]
    fn what_runs_a_program_or_names_a_file_does_not() {
        for option in [
            "-fplugin=./evil.so",
            "-fpass-plugin=x",
            "-fmodule-mapper=|sh",
            "-fopt-info-all=/x",
            "-fuse-ld=./ld",
            "-B./bin",
            "-specs=x",
            "-wrapper",
            "-Wp,-MD,/x",
            "-Wa,-o,/x",
            "-Wl,-z",
            "-MF",
            "-o",
            "-o/x",
            "@file",
            "-include",
            "-I/etc",
            "-Xlinker",
            "-imacros",
            "-D",
            "x.c",
            "/etc/passwd",
            "",
            "-",
        ] {
            assert!(!is_taken(option), "{option}");
        }
    }

    #[test]
    fn a_refused_option_is_named_and_keywords_are_no_options() {
        let args = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let fine = taken(args(&["PRIVATE", "-Wall", "PUBLIC", "-O2"]).into_iter());
        assert_eq!(fine.unwrap(), ["-Wall", "-O2"]);
        let error = taken(args(&["PRIVATE", "-B./bin"]).into_iter()).unwrap_err();
        assert!(error.contains("`-B./bin`"), "{error}");
    }
}
