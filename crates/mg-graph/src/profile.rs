//! What launches take: each is timed where all of them are made.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mg_device::Device;
use mg_device::cuda::Gpu;

use crate::explain::{LaunchInfo, info};
use crate::plan::{Bindings, Launch, Plan};

/// A launch that was made.
#[derive(Clone, Debug)]
pub struct TimedLaunch {
    /// What it is; `after` is empty.
    pub launch: LaunchInfo,
    /// The operation that was called.
    pub operation: &'static str,
    /// Where.
    pub device: Device,
    /// When it began, since the profile did.
    pub start: Duration,
    /// How long it took.
    pub duration: Duration,
    /// The sequence of the node that it computes, for who knows lines of another language by it; that of the recorded one in a
    /// step that is replayed.
    pub sequence: u64,
    /// The line of another language that called, where [`profile_caller`] said one.
    pub caller: Option<Arc<str>>,
}

thread_local! {
    static CALLER: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Says which line of another language calls on this thread, for launches that are noted from now on; answers with what was said before.
pub fn profile_caller(line: Option<Arc<str>>) -> Option<Arc<str>> {
    CALLER.replace(line)
}

/// Beyond so many nothing more is noted.
const MOST: usize = 1 << 20;

static ON: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct Noted {
    began: Option<Instant>,
    launches: Vec<TimedLaunch>,
}

fn noted() -> MutexGuard<'static, Noted> {
    static NOTED: OnceLock<Mutex<Noted>> = OnceLock::new();
    NOTED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to note what every launch takes, on all threads. On a CUDA device each launch is waited for, so that it
/// is known when it ended; a step that is replayed there as a graph of the device is one launch of the driver, and
/// is not noted.
pub fn profile_start() {
    *noted() = Noted { began: Some(Instant::now()), launches: vec![] };
    ON.store(true, Ordering::Release);
}

/// Ends it: the launches that were made since, in order.
pub fn profile_stop() -> Vec<TimedLaunch> {
    ON.store(false, Ordering::Release);
    std::mem::take(&mut *noted()).launches
}

/// The device that a launch is waited for on.
fn waited(device: Device) -> Option<&'static Gpu> {
    Gpu::of(device).ok().filter(|_| device.is_cuda())
}

/// What a launch answers with; it is noted where somebody wants to know, if it is started and not just collected.
#[inline]
pub(crate) fn timed<B: Bindings, T>(plan: &Plan, graph: &B, launch: &Launch, make: impl FnOnce() -> T) -> T {
    if !ON.load(Ordering::Acquire) || waited(launch.device).is_some_and(Gpu::is_collecting) {
        return make();
    }
    wait(launch.device);
    let start = Instant::now();
    let made = make();
    end(plan, graph, launch, start);
    made
}

/// What fails there is told by who looks at it.
fn wait(device: Device) {
    if let Some(gpu) = waited(device) {
        let _ = gpu.wait();
    }
}

/// Notes a launch that has begun.
#[cold]
fn end<B: Bindings>(plan: &Plan, graph: &B, launch: &Launch, start: Instant) {
    wait(launch.device);
    let duration = start.elapsed();
    let origin = launch.origin(graph);
    let line = format!("{}:{}", origin.line.file(), origin.line.line());
    let launch_info = info(plan, line, launch, &[]);
    let sequence = graph.origin(launch.node).map_or(0, |of| of.sequence);
    let caller = CALLER.with_borrow(Clone::clone);
    let mut noted = noted();
    let Some(began) = noted.began else { return };
    if noted.launches.len() < MOST {
        let start = start.saturating_duration_since(began);
        let (operation, device) = (origin.name, launch.device);
        noted.launches.push(TimedLaunch {
            launch: launch_info,
            operation,
            device,
            start,
            duration,
            sequence,
            caller,
        });
    }
}

fn text(out: &mut String, words: &str) {
    out.push('"');
    for c in words.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 32 => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The launches as a trace that `chrome://tracing` and Perfetto show: JSON (Trace Event Format), a row for each
/// device.
#[must_use]
pub fn chrome_trace(launches: &[TimedLaunch]) -> String {
    let mut out = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    let micros = |t: Duration| t.as_nanos() as f64 / 1e3;
    for (i, timed) in launches.iter().enumerate() {
        let LaunchInfo { kind, shape, operations, bytes_read, bytes_written, flops, line, after: _ } =
            &timed.launch;
        out.push_str(if i == 0 { "\n{\"name\":" } else { ",\n{\"name\":" });
        text(&mut out, &format!("{} ({kind})", timed.operation));
        out.push_str(&format!(
            ",\"ph\":\"X\",\"pid\":1,\"ts\":{:.3},\"dur\":{:.3}",
            micros(timed.start),
            micros(timed.duration)
        ));
        out.push_str(",\"tid\":");
        text(&mut out, &timed.device.to_string());
        out.push_str(",\"args\":{\"operations\":");
        text(&mut out, &operations.join(" "));
        out.push_str(&format!(
            ",\"shape\":{shape:?},\"bytes_read\":{bytes_read},\"bytes_written\":{bytes_written}"
        ));
        if let Some(flops) = flops {
            out.push_str(&format!(",\"flops\":{flops}"));
        }
        if !line.is_empty() {
            out.push_str(",\"line\":");
            text(&mut out, line);
        }
        out.push_str("}}");
    }
    out.push_str("\n]}\n");
    out
}
