//! A project in a temporary folder, a virtual board, and ears for its port.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use firmhand::config::assets::Assets;
use firmhand::model::{
    BoardInfo, BuildId, ErasePlan, FlashPlan, FlashRegion, ProgramSize, ProjectPath, ReadPlan,
    Timestamp, UserError,
};
use firmhand::toolchain::syntax::{Finding, NewText, SyntaxJob};
use firmhand::toolchain::{
    BuildJob, BuildReport, BuildSink, EraseOrder, FlashOrder, Kit, ReadOrder, Remake, RewriteOrder,
    Toolchain, VirtualToolchain,
};
use serial2_tokio::SerialPort;
use tokio_util::sync::CancellationToken;

pub const HELLO: &str = "#include \"esp_log.h\"\n\nvoid app_main(void)\n{\n    \
                         ESP_LOGI(\"hello\", \"hello from the board\");\n}\n";

/// Longest a test waits for anything; only a failing test gets there.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Paper(Mutex<Vec<u8>>);

impl BuildSink for Paper {
    fn output(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }

    fn progress(&self, done: u32, total: u32) {
        assert!(done <= total);
    }
}

pub struct Bench {
    dir: tempfile::TempDir,
    board: VirtualToolchain,
    paper: Arc<Paper>,
    pub cancel: CancellationToken,
}

pub fn kit() -> Kit {
    let assets = Assets::built_in();
    let files = assets.list("assets/virtual").into_iter().map(|path| {
        let (bytes, _) = assets.bytes(&path).unwrap();
        (path.strip_prefix("assets/virtual/").unwrap().to_owned(), bytes)
    });
    Kit::new(files).unwrap()
}

impl Bench {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let board = VirtualToolchain::new(kit(), dir.path().join("board"), crate::sandbox_runner());
        let paper = Arc::default();
        let bench = Self { dir, board, paper, cancel: CancellationToken::new() };
        bench.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\n\
             include($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(bench)\n",
        );
        bench.write(
            "main/CMakeLists.txt",
            "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n",
        );
        for (path, text) in files {
            bench.write(path, text);
        }
        bench
    }

    /// A folder with an Arduino sketch in it.
    pub fn sketch(files: &[(&str, &str)]) -> Self {
        let bench = Self::new(files);
        std::fs::remove_file(bench.path("CMakeLists.txt")).unwrap();
        std::fs::remove_dir_all(bench.path("main")).unwrap();
        bench
    }

    /// An empty project.
    pub fn empty() -> Self {
        Self::sketch(&[])
    }

    pub fn with_compiler(mut self, compiler: Result<PathBuf, UserError>) -> Self {
        self.board = VirtualToolchain::with_compiler(
            kit(),
            self.dir.path().join("board"),
            crate::sandbox_runner(),
            compiler,
        );
        self
    }

    pub fn with_compiler_script(self, script: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let path = self.dir.path().join("compiler.sh");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.with_compiler(Ok(path))
    }

    pub fn path(&self, inside: &str) -> PathBuf {
        self.dir.path().join("project").join(inside)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What the compiler says of files as they shall become.
    pub async fn check_syntax(&self, texts: &[(&str, &str)]) -> Vec<Finding> {
        let files = texts.iter().map(|(path, text)| NewText {
            path: ProjectPath::new(path).unwrap(),
            content: text.as_bytes().to_vec(),
        });
        let files = files.collect();
        let runner = Some(crate::sandbox_runner());
        let job = SyntaxJob { project: self.path(""), files, limit: PATIENCE, runner };
        self.board.check_syntax(job).await
    }

    /// What the program of the last build takes.
    pub fn size(&self) -> Option<ProgramSize> {
        self.board.size(&self.path(""))
    }

    pub async fn build(&self) -> BuildReport {
        self.build_within(PATIENCE).await
    }

    pub async fn build_within(&self, timeout: Duration) -> BuildReport {
        self.paper.0.lock().unwrap().clear();
        let (project, sink) = (self.path(""), self.paper.clone());
        let cancel = self.cancel.clone();
        self.board.build(BuildJob { project, board: None, sink, timeout, cancel }).await
    }

    /// What the last build printed.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&self.paper.0.lock().unwrap()).into_owned()
    }

    /// The lines of steps that the last build ran.
    pub fn steps(&self) -> Vec<String> {
        self.log().lines().filter(|line| line.starts_with('[')).map(str::to_owned).collect()
    }

    pub fn plan(&self) -> FlashPlan {
        self.board.plan_flash(&self.path(""), BuildId(1), Timestamp(0)).unwrap()
    }

    pub async fn flash_plan(&self, plan: FlashPlan) -> Result<String, UserError> {
        let total = plan.total_bytes();
        let last = Arc::new(Mutex::new(0));
        let seen = last.clone();
        let progress = Arc::new(move |done, of| {
            assert_eq!(of, total);
            *seen.lock().unwrap() = done;
        });
        let (project, cancel) = (self.path(""), self.cancel.clone());
        let notice = Arc::new(|notice| panic!("{notice:?}"));
        let order = FlashOrder { project, plan, progress, notice, cancel };
        let board = self.board.flash(order).await?;
        assert_eq!(*last.lock().unwrap(), total);
        assert!(board.simulated && board.label == "virtual board");
        Ok(board.port)
    }

    pub async fn flash(&self) -> Ears {
        let path = self.flash_plan(self.plan()).await.unwrap();
        Ears { port: SerialPort::open(&path, 115_200).unwrap(), path, heard: Vec::new() }
    }

    /// Erases one partition, or everything.
    pub async fn erase(&self, label: Option<&str>) -> Result<BoardInfo, UserError> {
        let (project, cancel) = (self.path(""), self.cancel.clone());
        let region = label.map(|label| FlashRegion {
            label: label.to_owned(),
            offset: 0x9000,
            bytes: 0x6000,
        });
        let board = self.board.erasable(&project)?;
        self.board.erase(EraseOrder { project, plan: ErasePlan { board, region }, cancel }).await
    }

    /// Reads a part of the board's memory.
    pub async fn read(&self, offset: u32, bytes: u32) -> Result<Vec<u8>, UserError> {
        let (project, cancel) = (self.path(""), self.cancel.clone());
        let board = self.board.erasable(&project)?;
        let region = FlashRegion { label: String::new(), offset, bytes };
        let path = ProjectPath::new("build/read.bin").unwrap();
        let plan = ReadPlan { board, region, path };
        self.board.read_flash(ReadOrder { project, plan, cancel }).await
    }

    /// Makes something else of the board's settings.
    pub async fn rewrite(&self, remake: Remake) -> Result<BoardInfo, UserError> {
        let (project, cancel) = (self.path(""), self.cancel.clone());
        let board = self.board.erasable(&project)?;
        let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 };
        let progress = Arc::new(|_, _| ());
        let order = RewriteOrder { project, board, region, remake, progress, cancel };
        self.board.rewrite(order).await
    }

    /// What of the board's memory is there.
    pub fn memory(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.dir.path().join("board")).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }

    /// Function and place of each address; `None` where there is no `addr2line`.
    pub fn resolve(&self, counters: &[String]) -> Option<Vec<String>> {
        let elf = self.path("build/bench.elf");
        let run = Command::new("addr2line").arg("-pfe").arg(elf).args(counters).output().ok()?;
        let text = String::from_utf8(run.stdout).unwrap();
        Some(text.lines().map(|line| line.replace(" at ", " ")).collect())
    }
}

pub struct Ears {
    port: SerialPort,
    pub path: String,
    heard: Vec<u8>,
}

impl Ears {
    /// Forgets what was heard so far.
    pub fn forget(&mut self) {
        self.heard.clear();
    }

    /// Listens until the text comes, and to the end of its line.
    pub async fn until(&mut self, text: &str) -> String {
        let wait = async {
            let mut buffer = vec![0; 64 * 1024];
            loop {
                let heard = String::from_utf8_lossy(&self.heard).into_owned();
                if heard.split_once(text).is_some_and(|(_, after)| after.contains('\n')) {
                    return heard;
                }
                let count = self.port.read(&mut buffer).await.unwrap();
                assert!(count > 0, "the port was closed after: {heard}");
                self.heard.extend_from_slice(&buffer[..count]);
            }
        };
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(heard) => heard,
            Err(_) => panic!("no `{text}` in: {}", String::from_utf8_lossy(&self.heard)),
        }
    }
}

pub fn number_after(text: &str, before: &str) -> i32 {
    let rest = text.split_once(before).unwrap().1;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().unwrap()
}

/// Program counters of the first backtrace.
pub fn backtrace(text: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("Backtrace: ")).unwrap();
    line.split(' ').map(|pair| pair.split(':').next().unwrap().to_owned()).collect()
}

/// Whether a program runs whose command line ends with these words, in whatever namespace.
pub fn is_running(words: &str) -> bool {
    // A dead process that nobody has collected yet does not count.
    let run = Command::new("ps").args(["-A", "-ww", "-o", "stat=,args="]).output().unwrap();
    let listed = String::from_utf8_lossy(&run.stdout).into_owned();
    listed.lines().any(|line| line.trim_end().ends_with(words) && !line.starts_with('Z'))
}

pub async fn wait_until(what: &str, ready: impl Fn() -> bool) {
    for _ in 0..600 {
        if ready() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never: {what}");
}
