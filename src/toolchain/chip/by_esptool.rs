//! Orders as calls of `esptool`, with copies of what was approved. Must not know who brings it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::super::esptool::{self, SAFE_BAUD, WHAT, copy_aside};
use super::super::{
    CANNOT_ERASE, CANNOT_READ, CANNOT_REWRITE, EraseOrder, FlashOrder, ReadOrder, RewriteOrder,
};
use super::access::{EsptoolOptions, FlashAccess};
use crate::files;
use crate::model::{BoardInfo, BuildId, FlashPlan, FlashRegion, Timestamp, UserError};

/// See [`FlashAccess::write`].
pub(super) async fn write(
    reach: &FlashAccess<'_>,
    order: FlashOrder,
) -> Result<BoardInfo, UserError> {
    let FlashOrder { project, plan, progress, notice, cancel } = order;
    esptool::is_free(WHAT, &plan.board.port)?;
    let copies = tempfile::tempdir().map_err(|error| UserError::from_cause(WHAT, &error))?;
    let files = copy_aside(&project, &plan, copies.path(), |index, _| format!("{index}.bin"))?;
    let mut baud = reach.asked.baud();
    loop {
        let args = write_args(&reach.asked, &plan, &files, baud);
        let job = reach.esptool.job(args, copies.path(), &cancel).await?;
        match esptool::write(job, &plan, progress.as_ref()).await {
            Err(trouble) if trouble.may_be_the_rate && baud > SAFE_BAUD => {
                baud = SAFE_BAUD;
                let what = format!("Trying again with {SAFE_BAUD} baud");
                notice(UserError::new(what, trouble.error.why, ""));
            }
            done => return done.map_err(|trouble| trouble.error),
        }
    }
}

/// See [`FlashAccess::erase`].
pub(super) async fn erase(
    reach: &FlashAccess<'_>,
    order: EraseOrder,
) -> Result<BoardInfo, UserError> {
    let EraseOrder { plan, cancel, .. } = order;
    esptool::is_free(CANNOT_ERASE, &plan.board.port)?;
    let empty = empty_folder(CANNOT_ERASE)?;
    let mut all = common_args(&reach.asked, &plan.board, SAFE_BAUD);
    match &plan.region {
        None => all.push("erase_flash".into()),
        Some(region) => {
            all.push("erase_region".into());
            all.extend(place(region));
        }
    }
    let job = reach.esptool.job(all, empty.path(), &cancel).await?;
    esptool::run(CANNOT_ERASE, job, &plan.board).await?;
    Ok(plan.board)
}

/// See [`FlashAccess::read`].
pub(super) async fn read(reach: &FlashAccess<'_>, order: ReadOrder) -> Result<Vec<u8>, UserError> {
    let ReadOrder { plan, cancel, .. } = order;
    esptool::is_free(CANNOT_READ, &plan.board.port)?;
    let from = ReadSource { board: &plan.board, region: &plan.region, baud: reach.asked.baud() };
    fetch(reach, CANNOT_READ, &reach.asked, from, &cancel).await
}

/// Where `esptool` runs: the project may hold files that Python takes for parts of it.
fn empty_folder(what: &str) -> Result<tempfile::TempDir, UserError> {
    tempfile::tempdir().map_err(|error| UserError::from_cause(what, &error))
}

/// What is read, and how fast.
#[derive(Clone, Copy)]
struct ReadSource<'a> {
    board: &'a BoardInfo,
    region: &'a FlashRegion,
    baud: u32,
}

async fn fetch(
    reach: &FlashAccess<'_>,
    what: &str,
    asked: &EsptoolOptions,
    from: ReadSource<'_>,
    cancel: &CancellationToken,
) -> Result<Vec<u8>, UserError> {
    let ReadSource { board, region, baud } = from;
    let failed = |error: &dyn std::fmt::Display| UserError::from_cause(what, error);
    let aside = tempfile::tempdir().map_err(|error| failed(&error))?;
    let file = aside.path().join("flash.bin");
    let mut all = common_args(asked, board, baud);
    all.push("read_flash".into());
    all.extend(place(region));
    all.push(file.clone().into());
    let job = reach.esptool.job(all, aside.path(), cancel).await?;
    esptool::run(what, job, board).await?;
    let content = files::read(&file, files::IMAGE).map_err(|error| failed(&error))?;
    if content.len() as u64 != u64::from(region.bytes) {
        return Err(failed(&format!("{} bytes arrived", content.len())));
    }
    Ok(content)
}

/// See [`FlashAccess::rewrite`].
pub(super) async fn rewrite(
    reach: &FlashAccess<'_>,
    order: RewriteOrder,
) -> Result<BoardInfo, UserError> {
    let RewriteOrder { board, region, remake, progress, cancel, .. } = order;
    esptool::is_free(CANNOT_REWRITE, &board.port)?;
    let halted = EsptoolOptions { after: Some("no_reset".to_owned()), ..reach.asked.clone() };
    // It is little, and nothing of it may get lost on the way: at the rate that every cable carries.
    let from = ReadSource { board: &board, region: &region, baud: SAFE_BAUD };
    let held = fetch(reach, CANNOT_REWRITE, &halted, from, &cancel).await?;
    let Some(content) = remake(&held) else {
        // Nothing to write; the board still has to be let go on.
        let mut all = common_args(&reach.asked, &board, SAFE_BAUD);
        all.push("chip_id".into());
        let empty = empty_folder(CANNOT_REWRITE)?;
        let job = reach.esptool.job(all, empty.path(), &cancel).await?;
        esptool::run(CANNOT_REWRITE, job, &board).await?;
        return Ok(board);
    };
    let failed = |error: &dyn std::fmt::Display| UserError::from_cause(CANNOT_REWRITE, error);
    let aside = tempfile::tempdir().map_err(|error| failed(&error))?;
    let file = aside.path().join("flash.bin");
    esptool::put_aside(&file, &content).map_err(|error| failed(&error))?;
    let image = esptool::image(region.name(), region.offset, &content);
    let plan = FlashPlan::new(board, vec![image], BuildId(0), Timestamp(0));
    // Options of writing are about the headers of programs, which this is none of.
    let plain = EsptoolOptions { write: Vec::new(), ..reach.asked.clone() };
    let args = write_args(&plain, &plan, &[file], SAFE_BAUD);
    let job = reach.esptool.job(args, aside.path(), &cancel).await?;
    let written = esptool::write(job, &plan, progress.as_ref()).await;
    written.map_err(|trouble| UserError { what: CANNOT_REWRITE.to_owned(), ..trouble.error })
}

fn write_args(
    asked: &EsptoolOptions,
    plan: &FlashPlan,
    files: &[PathBuf],
    baud: u32,
) -> Vec<OsString> {
    let mut all = common_args(asked, &plan.board, baud);
    all.push("write_flash".into());
    all.extend(asked.write.iter().map(OsString::from));
    for (image, file) in plan.images.iter().zip(files) {
        all.push(format!("0x{:x}", image.offset).into());
        all.push(file.into());
    }
    all
}

fn place(region: &FlashRegion) -> [OsString; 2] {
    [region.offset, region.bytes].map(|word| format!("0x{word:x}").into())
}

/// What every call for that board begins with.
fn common_args(asked: &EsptoolOptions, board: &BoardInfo, baud: u32) -> Vec<OsString> {
    let reset = |asked: &Option<String>, usual: &str| match has_lines(&board.port) {
        true => asked.clone().unwrap_or_else(|| usual.to_owned()),
        false => "no_reset".to_owned(),
    };
    let (before, after) =
        (reset(&asked.before, "default_reset"), reset(&asked.after, "hard_reset"));
    let baud = baud.to_string();
    let words = ["--chip", &board.chip, "--port", &board.port, "--baud", &baud];
    let words = words.into_iter().chain(["--before", &before, "--after", &after]);
    let stub = (asked.stub == Some(false)).then_some("--no-stub");
    words.chain(stub).map(OsString::from).collect()
}

/// A pseudo-terminal has no lines by which a board could be started.
fn has_lines(port: &str) -> bool {
    !Path::new(port).starts_with("/dev/pts")
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;

    use super::*;
    use crate::toolchain::process::ProcessSpec;

    /// Notes where it runs.
    struct Noting(PathBuf);

    impl super::super::Esptool for Noting {
        fn job<'a>(
            &'a self,
            _: Vec<OsString>,
            folder: &'a Path,
            cancel: &'a CancellationToken,
        ) -> BoxFuture<'a, Result<ProcessSpec, UserError>> {
            let script = format!("pwd -P >> '{}'; ls -A | wc -l >> '{0}'", self.0.display());
            let job = ProcessSpec {
                program: "/bin/sh".into(),
                args: vec!["-c".into(), script.into()],
                env: Vec::new(),
                folder: folder.to_owned(),
                timeout: esptool::TIMEOUT,
                cancel: cancel.clone(),
            };
            Box::pin(std::future::ready(Ok(job)))
        }
    }

    #[tokio::test]
    async fn it_is_not_run_in_the_folder_of_the_project() {
        let project = tempfile::tempdir().unwrap();
        let noted = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(project.path().join("esptool.py"), "").unwrap();
        let esptool = Noting(noted.path().to_owned());
        let reach =
            FlashAccess { esptool: &esptool, asked: EsptoolOptions::default(), loader: None };
        let (chip, port) = ("esp32c3".to_owned(), "rfc2217://board".to_owned());
        let board = BoardInfo { label: "board".to_owned(), chip, port, simulated: false };
        let order = EraseOrder {
            project: project.path().to_owned(),
            plan: crate::model::ErasePlan { board, region: None },
            cancel: CancellationToken::new(),
        };
        erase(&reach, order).await.unwrap();
        let noted = std::fs::read_to_string(noted.path()).unwrap();
        let project = std::fs::canonicalize(project.path()).unwrap();
        assert!(!noted.contains(project.to_str().unwrap()), "{noted}");
        assert_eq!(noted.lines().nth(1).map(str::trim), Some("0"), "{noted}");
    }

    #[test]
    fn exactly_the_approved_images_are_written() {
        let project = tempfile::tempdir().unwrap();
        let image = |name: &str, offset| {
            std::fs::write(project.path().join(name), name).unwrap();
            esptool::image(name.to_owned(), offset, name.as_bytes())
        };
        let (chip, port) = ("esp32c3".to_owned(), "/dev/ttyUSB0".to_owned());
        let board = BoardInfo { label: "board".to_owned(), chip, port, simulated: false };
        let images = vec![image("boot.bin", 0), image("blink.bin", 0x1_0000)];
        let plan = FlashPlan::new(board, images, BuildId(1), Timestamp(1));
        let aside = tempfile::tempdir().unwrap();
        let copy =
            || copy_aside(project.path(), &plan, aside.path(), |index, _| format!("{index}.bin"));
        let files = copy().unwrap();
        let write = ["--flash_mode", "dio"].map(str::to_owned).to_vec();
        let asked = EsptoolOptions { write, stub: Some(false), ..EsptoolOptions::default() };
        let words: Vec<String> = write_args(&asked, &plan, &files, asked.baud())
            .iter()
            .map(|word| word.to_str().unwrap().replace(aside.path().to_str().unwrap(), ""))
            .collect();
        assert_eq!(
            words.join(" "),
            "--chip esp32c3 --port /dev/ttyUSB0 --baud 460800 --before default_reset --after \
             hard_reset --no-stub write_flash --flash_mode dio 0x0 /0.bin 0x10000 /1.bin"
        );
        std::fs::write(project.path().join("blink.bin"), "another").unwrap();
        assert_eq!(std::fs::read(&files[1]).unwrap(), b"blink.bin");
        let error = copy().unwrap_err();
        assert!(error.why.contains("blink.bin"), "{error:?}");
    }
}
