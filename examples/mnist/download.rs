//! Gets the files of MNIST once, and checks that they are what they should be.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

/// Where the files are. Plain HTTP will do, since their checksums are known.
const MIRRORS: [&str; 2] =
    ["http://ossci-datasets.s3.amazonaws.com/mnist/", "http://storage.googleapis.com/cvdf-datasets/mnist/"];

/// A file as it was published.
struct Published<'a> {
    name: &'a str,
    /// Of the contents, without the compression: they are the same however often somebody compressed them anew.
    sha256: &'a str,
    /// Bytes of the contents.
    length: u64,
}

const FILES: [Published<'static>; 4] = [
    Published {
        name: "train-images-idx3-ubyte.gz",
        sha256: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        length: 47_040_016,
    },
    Published {
        name: "train-labels-idx1-ubyte.gz",
        sha256: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        length: 60_008,
    },
    Published {
        name: "t10k-images-idx3-ubyte.gz",
        sha256: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        length: 7_840_016,
    },
    Published {
        name: "t10k-labels-idx1-ubyte.gz",
        sha256: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        length: 10_008,
    },
];

/// Why the files could not be had, in a line for people.
#[derive(Debug)]
pub enum FetchError {
    /// No mirror could be reached.
    Offline(String),
    /// A mirror answered, but not with the file.
    Mirror(String),
    /// The folder could not be written.
    Folder(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (FetchError::Offline(text) | FetchError::Mirror(text) | FetchError::Folder(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for FetchError {}

/// Sees to it that the four files of MNIST are in `dir`, about 11 MB: downloads those that are missing or damaged, and
/// returns how many that were. A file appears under its name only when it is there and right.
pub fn fetch(dir: &Path) -> Result<usize, FetchError> {
    fetch_from(dir, &MIRRORS, &FILES, &agent().build().new_agent())
}

fn agent() -> ureq::config::ConfigBuilder<ureq::typestate::AgentScope> {
    let short = Some(Duration::from_secs(5));
    ureq::Agent::config_builder()
        .timeout_resolve(short)
        .timeout_connect(short)
        .timeout_recv_response(Some(Duration::from_secs(10)))
        // However slow the line is, as long as something comes.
        .timeout_per_read(Some(Duration::from_secs(10)))
}

fn fetch_from(
    dir: &Path,
    mirrors: &[&str],
    files: &[Published<'_>],
    agent: &ureq::Agent,
) -> Result<usize, FetchError> {
    let folder = |e: io::Error| FetchError::Folder(format!("cannot write to {}: {e}", dir.display()));
    fs::create_dir_all(dir).map_err(folder)?;
    let mut downloaded = 0;
    for file in files {
        let path = dir.join(file.name);
        if File::open(&path).is_ok_and(|f| verify(BufReader::new(f), file).is_ok()) {
            continue;
        }
        let bytes = download(mirrors, file, agent)?;
        let part = dir.join(format!(".{}.{}.part", file.name, std::process::id()));
        let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written.map_err(folder)?;
        downloaded += 1;
    }
    Ok(downloaded)
}

/// The file from the first mirror that has it.
fn download(mirrors: &[&str], file: &Published<'_>, agent: &ureq::Agent) -> Result<Vec<u8>, FetchError> {
    let (mut causes, mut reached) = (Vec::new(), false);
    for mirror in mirrors {
        let url = format!("{mirror}{}", file.name);
        let outcome = get(&url, file, agent);
        let cause = match outcome {
            Ok(bytes) => match verify(&bytes[..], file) {
                Ok(()) => return Ok(bytes),
                Err(cause) => cause,
            },
            Err(
                e @ (ureq::Error::HostNotFound
                | ureq::Error::ConnectionFailed
                | ureq::Error::Io(_)
                | ureq::Error::Timeout(_)
                | ureq::Error::ConnectProxyFailed(_)),
            ) => {
                causes.push(format!("{url}: {e}"));
                continue;
            }
            Err(e) => e.to_string(),
        };
        reached = true;
        causes.push(format!("{url}: {cause}"));
    }
    let causes = causes.join("; ");
    Err(if reached {
        FetchError::Mirror(format!("cannot download {}: {causes}", file.name))
    } else {
        FetchError::Offline(format!("cannot download MNIST, there seems to be no network: {causes}"))
    })
}

fn get(url: &str, file: &Published<'_>, agent: &ureq::Agent) -> Result<Vec<u8>, ureq::Error> {
    let mut body = agent.get(url).call()?.into_body();
    let total = body.content_length();
    // What does not compress at all grows by far less than this.
    let limit = file.length + file.length / 8 + 1024;
    let mut reader = body.as_reader().take(limit);
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    let live = io::stderr().is_terminal();
    loop {
        let outcome = reader.read(&mut chunk);
        let n = *outcome.as_ref().unwrap_or(&0);
        bytes.extend_from_slice(&chunk[..n]);
        if live {
            progress(file.name, bytes.len(), total);
        }
        if n == 0 {
            if live {
                eprintln!();
            } else {
                eprintln!("{url}: {} bytes", bytes.len());
            }
            return outcome.map(|_| bytes).map_err(ureq::Error::Io);
        }
    }
}

/// Draws the line of a download over itself.
fn progress(name: &str, got: usize, total: Option<u64>) {
    let mb = |n: f64| n / 1e6;
    let of = total.map(|n| format!(" of {:.1}", mb(n as f64))).unwrap_or_default();
    eprint!("\r{name}: {:.1}{of} MB\x1b[K", mb(got as f64));
    let _ = io::stderr().flush();
}

/// Whether this is the file, by its contents.
fn verify(compressed: impl Read, file: &Published<'_>) -> Result<(), String> {
    // One byte more, to notice when there are too many.
    let mut contents = MultiGzDecoder::new(compressed).take(file.length + 1);
    let (mut hash, mut length, mut chunk) = (Sha256::new(), 0, vec![0; 64 << 10]);
    loop {
        match contents.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                hash.update(&chunk[..n]);
                length += n as u64;
            }
            Err(e) => return Err(format!("what came is not gzip data, or broken: {e}")),
        }
    }
    let sha256: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    if length == file.length && sha256 == file.sha256 {
        Ok(())
    } else {
        Err(format!("what came is another file: its SHA-256 is {sha256}, not {}", file.sha256))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex};

    const CONTENTS: &[u8] = b"these are the contents";
    const FILE: [Published<'static>; 1] = [Published {
        name: "a.gz",
        sha256: "e9bffa10ff7d4feeffc85748c1c8641ab5ee153a9c8a4afea66b40e28431bd36",
        length: CONTENTS.len() as u64,
    }];

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// A server that answers every request so, and keeps the paths asked for.
    fn serve(status: &'static str, body: Vec<u8>, claimed: usize) -> (String, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mnist/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                log.lock().unwrap().push(lines.next().unwrap_or_default());
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let head =
                    format!("HTTP/1.1 {status}\r\nContent-Length: {claimed}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        (url, asked)
    }

    fn good() -> (String, Arc<Mutex<Vec<String>>>) {
        let body = gzip(CONTENTS);
        let n = body.len();
        serve("200 OK", body, n)
    }

    /// A mirror that is not there: nobody listens.
    fn nowhere() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    }

    struct Dir(PathBuf);

    impl Dir {
        fn new(test: &str) -> Dir {
            let path = std::env::temp_dir().join(format!("mnist-{}-{test}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Dir(path.join("deep"))
        }

        fn fetch(&self, mirrors: &[&str]) -> Result<usize, FetchError> {
            // Without the environment's proxy, which knows no local servers.
            fetch_from(&self.0, mirrors, &FILE, &agent().proxy(None).build().new_agent())
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(&self.0).unwrap();
            names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.0.parent().unwrap());
        }
    }

    #[test]
    fn a_file_is_downloaded_once_and_again_when_it_is_damaged() {
        let dir = Dir::new("once");
        let (url, asked) = good();
        assert_eq!(dir.fetch(&[&url]).unwrap(), 1);
        assert_eq!(dir.fetch(&[&url]).unwrap(), 0);
        assert_eq!(*asked.lock().unwrap(), ["GET /mnist/a.gz HTTP/1.1"]);
        assert_eq!(fs::read(dir.0.join("a.gz")).unwrap(), gzip(CONTENTS));
        fs::write(dir.0.join("a.gz"), gzip(b"other contents")).unwrap();
        assert_eq!(dir.fetch(&[&url]).unwrap(), 1);
        assert_eq!(fs::read(dir.0.join("a.gz")).unwrap(), gzip(CONTENTS));
        assert_eq!(dir.names(), ["a.gz"]);
    }

    #[test]
    fn the_next_mirror_serves_where_one_is_down_or_wrong() {
        let other = gzip(b"something else");
        let n = other.len();
        for bad in [
            nowhere(),
            serve("404 Not Found", vec![], 0).0,
            serve("200 OK", other, n).0,
            serve("200 OK", gzip(CONTENTS), 1000).0,
            serve("200 OK", b"<html>log in here</html>".to_vec(), 24).0,
        ] {
            let dir = Dir::new("next");
            assert_eq!(dir.fetch(&[&bad, &good().0]).unwrap(), 1);
            assert_eq!(dir.names(), ["a.gz"]);
        }
    }

    #[test]
    fn no_network_is_said_in_a_line() {
        let dir = Dir::new("offline");
        let e = dir.fetch(&[&nowhere(), &nowhere()]).unwrap_err();
        let text = e.to_string();
        assert!(matches!(e, FetchError::Offline(_)), "{text}");
        assert!(text.contains("there seems to be no network") && !text.contains('\n'), "{text}");
        assert!(dir.names().is_empty());
    }

    #[test]
    fn a_wrong_file_is_not_kept() {
        let dir = Dir::new("wrong");
        let e = dir.fetch(&[&serve("200 OK", gzip(&[7; 100_000]), gzip(&[7; 100_000]).len()).0]).unwrap_err();
        assert!(matches!(e, FetchError::Mirror(_)) && e.to_string().contains("another file"), "{e}");
        let e = dir.fetch(&[&serve("200 OK", vec![7; 100_000], 100_000).0, &nowhere()]).unwrap_err();
        assert!(matches!(e, FetchError::Mirror(_)) && e.to_string().contains("not gzip data"), "{e}");
        assert!(dir.names().is_empty());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let dir = Dir::new("folder");
        fs::write(dir.0.parent().unwrap(), "a file").unwrap();
        assert!(matches!(dir.fetch(&[&good().0]).unwrap_err(), FetchError::Folder(_)));
        fs::remove_file(dir.0.parent().unwrap()).unwrap();
    }

    /// Against the real files: in `MNIST_DIR`, or `shared/data/mnist` beside the checkout.
    #[test]
    fn the_checksums_are_those_of_mnist() {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/mnist");
        let dir = std::env::var_os("MNIST_DIR").map_or(beside, PathBuf::from);
        for file in &FILES {
            match File::open(dir.join(file.name)) {
                Ok(f) => verify(BufReader::new(f), file).unwrap(),
                Err(_) => println!("skipped: no MNIST files"),
            }
        }
    }
}
