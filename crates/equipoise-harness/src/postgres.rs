//! A PostgreSQL server of a test's own: on loopback, in a folder that goes with it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A server, stopped when it is dropped.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    databases: AtomicUsize,
}

/// Whom the server runs as where we are root: it refuses to be run by root.
const USER: &str = "postgres";

impl Postgres {
    /// The server that all tests of a process share while one of them has it; `None` where PostgreSQL is not installed, which is
    /// said.
    pub fn start(test: &str) -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Some(running);
        }
        let started = Arc::new(Self::alone(test)?);
        *shared = Arc::downgrade(&started);
        Some(started)
    }

    /// A server of one test, which may do to it what would disturb others.
    pub fn alone(test: &str) -> Option<Self> {
        match programs() {
            Some(programs) => Some(Self::begin(programs)),
            None => {
                println!("{test} skipped: postgresql is not installed");
                None
            }
        }
    }

    /// A server of one test that takes encrypted connections, as the host of this name, and the certificate that signed its own;
    /// `None` where it or the command `openssl` is not installed, which is said.
    pub fn encrypted(test: &str, host: &str) -> Option<(Self, PathBuf)> {
        if Command::new("openssl").arg("version").output().is_err() {
            println!("{test} skipped: openssl is not installed");
            return None;
        }
        let server = Self::alone(test)?;
        let key = ["req", "-newkey", "rsa:2048", "-nodes", "-keyout"];
        let days = ["-days", "2"];
        server.openssl(
            &[&key[..], &["root.key", "-x509", "-out", "root.pem", "-subj", "/CN=root"], &days].concat(),
        );
        server.openssl(&[&key[..], &["server.key", "-out", "server.csr", "-subj", "/CN=server"]].concat());
        std::fs::write(server.folder.join("names"), format!("subjectAltName=DNS:{host},DNS:localhost\n"))
            .unwrap();
        let sign =
            ["x509", "-req", "-in", "server.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial"];
        server.openssl(&[&sign[..], &["-out", "server.pem", "-extfile", "names"], &days].concat());
        let place = |name: &str| server.folder.join(name).display().to_string();
        if is_root() {
            assert!(Command::new("chown").args([USER, &place("server.key")]).status().unwrap().success());
        }
        let settings = format!(
            "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
            place("server.pem"),
            place("server.key")
        );
        let file = server.data().join("postgresql.conf");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, before + &settings).unwrap();
        server.crash();
        let root = server.folder.join("root.pem");
        Some((server, root))
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl").args(arguments).current_dir(&self.folder).output().unwrap();
        assert!(
            output.status.success(),
            "openssl {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn begin(programs: PathBuf) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let folder = std::env::temp_dir().join(format!("equipoise-postgres-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        if is_root() {
            assert!(Command::new("chown").arg(USER).arg(&folder).status().unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { programs, folder, port, databases: AtomicUsize::new(0) };
        let data = server.data();
        let data = data.to_str().unwrap();
        let how = ["-U", "equipoise", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
        server.run("initdb", &[&["-D", data], &how[..]].concat());
        server.go();
        server
    }

    fn go(&self) {
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c fsync=off -c jit=off -c max_connections=200",
            self.port,
            self.folder.display()
        );
        let (data, log) = (self.data(), self.folder.join("log"));
        let (data, log) = (data.to_str().unwrap(), log.to_str().unwrap());
        self.run("pg_ctl", &["-D", data, "-l", log, "-w", "-o", &options, "start"]);
    }

    /// Ends the server as a crash does, and starts it again.
    pub fn crash(&self) {
        self.run("pg_ctl", &["-D", self.data().to_str().unwrap(), "-m", "immediate", "stop"]);
        self.go();
    }

    /// Where all that the server keeps is.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The address of a new database.
    pub fn database(&self) -> String {
        let name = format!("study{}", self.databases.fetch_add(1, Ordering::SeqCst));
        self.ask("postgres", &format!("CREATE DATABASE {name}"));
        format!("postgres://equipoise@127.0.0.1:{}/{name}", self.port)
    }

    /// The address of a database by the socket of the server in place of its port.
    pub fn by_socket(&self, database: &str) -> String {
        let name = database.rsplit('/').next().unwrap_or(database);
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://equipoise@{folder}:{}/{name}", self.port)
    }

    /// What a statement answers, as text; `database` is a name or an address.
    pub fn ask(&self, database: &str, sql: &str) -> String {
        let name = database.rsplit('/').next().unwrap_or(database);
        let port = self.port.to_string();
        let to = ["-h", "127.0.0.1", "-p", &port, "-U", "equipoise", "-d", name];
        let output = self
            .run("psql", &[&to[..], &["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]].concat());
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Ends the connections that others have to a database, as an administrator would: how many.
    pub fn cut(&self, database: &str) -> usize {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        self.ask(database, sql).parse().unwrap()
    }

    /// Files that hold some bytes, once the server has written everything down.
    pub fn holding(&self, bytes: &[u8]) -> Vec<PathBuf> {
        self.ask("postgres", "CHECKPOINT");
        let mut found = vec![];
        search(&self.data(), bytes, &mut found);
        found
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let output = self.attempt(program, arguments);
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    fn attempt(&self, program: &str, arguments: &[&str]) -> Output {
        let program = self.programs.join(program);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", USER, "--"]).arg(&program);
                command
            }
            false => Command::new(&program),
        };
        // What is started inherits no pipe: it would keep whoever reads that waiting.
        let (out, err) = (self.folder.join("out"), self.folder.join("err"));
        match program.ends_with("pg_ctl") {
            false => command.args(arguments).current_dir(&self.folder).output().unwrap(),
            true => {
                command
                    .stdout(std::fs::File::create(&out).unwrap())
                    .stderr(std::fs::File::create(&err).unwrap());
                let status = command.args(arguments).current_dir(&self.folder).status().unwrap();
                let read = |path: &Path| std::fs::read(path).unwrap_or_default();
                Output { status, stdout: read(&out), stderr: read(&err) }
            }
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.data().exists() {
            let data = self.data();
            self.attempt("pg_ctl", &["-D", data.to_str().unwrap(), "-m", "immediate", "stop"]);
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where the newest version lies that is installed.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let found = versions.filter_map(|version| {
        let number: u32 = version.file_name().to_str()?.parse().ok()?;
        let programs = version.path().join("bin");
        programs.join("initdb").is_file().then_some((number, programs))
    });
    found.max().map(|(_, programs)| programs)
}

fn is_root() -> bool {
    // Without a crate for it: who owns what this process says of itself.
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
    }
    #[cfg(not(unix))]
    {
        false
    }
}

fn search(folder: &Path, bytes: &[u8], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => search(&path, bytes, found),
            // Files come and go under a server that runs.
            _ => {
                let content = std::fs::read(&path).unwrap_or_default();
                if content.windows(bytes.len()).any(|window| window == bytes) {
                    found.push(path);
                }
            }
        }
    }
}
