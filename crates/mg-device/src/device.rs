//! [`Device`]: which processor, and whose memory.

use std::fmt;
use std::str::FromStr;

use crate::allocator::{self, MemoryStats};
use crate::cuda;
use crate::error::{Error, ErrorKind, Result};

/// The host's processor or one CUDA device. `Copy`; says where a buffer lives and where work on it runs.
///
/// # Examples
///
/// ```
/// use mg_device::Device;
///
/// assert_eq!(Device::cpu().to_string(), "cpu");
/// match Device::cuda(0) {
///     Ok(device) => println!("{device} is a {}", device.name()),
///     Err(why) => println!("{why}"),
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device {
    /// 0 is the CPU, `n + 1` the CUDA device of ordinal `n`.
    index: u32,
}

impl Device {
    /// The host.
    #[inline]
    #[must_use]
    pub const fn cpu() -> Device {
        Device { index: 0 }
    }

    /// The CUDA device with this ordinal, counted as the driver does (`CUDA_VISIBLE_DEVICES` is respected).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Device`] that says why there is none: no driver, no device, a driver too old, an ordinal too high.
    #[track_caller]
    pub fn cuda(ordinal: usize) -> Result<Device> {
        let device = Device::cuda_unchecked(ordinal)?;
        device.check()?;
        Ok(device)
    }

    #[track_caller]
    fn cuda_unchecked(ordinal: usize) -> Result<Device> {
        match u32::try_from(ordinal).ok().and_then(|n| n.checked_add(1)) {
            Some(index) => Ok(Device { index }),
            None => {
                Err(Error::new("device", ErrorKind::Device(format!("there is no device cuda:{ordinal}"))))
            }
        }
    }

    /// Whether this machine has the device.
    ///
    /// # Errors
    ///
    /// As [`Device::cuda`]; never for the CPU.
    #[track_caller]
    pub fn check(self) -> Result<()> {
        if self.is_cpu() {
            return Ok(());
        }
        let text = match cuda::probe() {
            Ok(driver) if self.ordinal() < driver.devices.len() => return Ok(()),
            Ok(driver) => {
                let n = driver.devices.len();
                let plural = if n == 1 { "" } else { "s" };
                format!("there is no {self}: this machine has {n} CUDA device{plural}")
            }
            Err(why) => format!("{self} cannot be used: {why}"),
        };
        Err(Error::new("device", ErrorKind::Device(text)))
    }

    /// Whether it is the host.
    #[inline]
    #[must_use]
    pub const fn is_cpu(self) -> bool {
        self.index == 0
    }

    /// Whether it is a CUDA device.
    #[inline]
    #[must_use]
    pub const fn is_cuda(self) -> bool {
        self.index != 0
    }

    /// The number among devices of its kind; 0 for the CPU.
    #[inline]
    #[must_use]
    pub const fn ordinal(self) -> usize {
        self.index.saturating_sub(1) as usize
    }

    /// Whether there is a CUDA device to use. Never fails; the first call looks for the driver, later ones cost nothing.
    #[must_use]
    pub fn is_cuda_available() -> bool {
        Device::cuda_count() > 0
    }

    /// The number of CUDA devices; 0 where there is no usable driver.
    #[must_use]
    pub fn cuda_count() -> usize {
        cuda::probe().map_or(0, |driver| driver.devices.len())
    }

    /// The product's name, such as "NVIDIA H200"; the processor's for the CPU where the system tells it. For people, not
    /// for programs.
    #[must_use]
    pub fn name(self) -> String {
        if self.is_cpu() {
            return cpu_name().unwrap_or_else(|| std::env::consts::ARCH.into());
        }
        let name = cuda::probe().ok().and_then(|driver| driver.devices.get(self.ordinal()).cloned());
        name.unwrap_or_else(|| self.to_string())
    }

    /// Waits until all work on the device is done; at once for the CPU, whose work is done when it returns.
    ///
    /// # Errors
    ///
    /// What the work failed with: [`ErrorKind::Cuda`] of a launch, [`ErrorKind::Index`] of an index that a kernel found out
    /// of range; [`ErrorKind::Device`] where the device cannot be used.
    #[track_caller]
    pub fn synchronize(self) -> Result<()> {
        if self.is_cpu() { Ok(()) } else { cuda::Gpu::of(self)?.synchronize() }
    }

    /// The device's own memory in bytes, all of it; `None` for the CPU.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Device`] and [`ErrorKind::Cuda`] where the device cannot be used.
    #[track_caller]
    pub fn total_memory(self) -> Result<Option<usize>> {
        if self.is_cpu() { Ok(None) } else { Ok(Some(cuda::Gpu::of(self)?.total_memory())) }
    }

    /// The compute capability, major and minor; `None` for the CPU.
    ///
    /// # Errors
    ///
    /// As [`Device::total_memory`].
    #[track_caller]
    pub fn compute_capability(self) -> Result<Option<(u32, u32)>> {
        if self.is_cpu() { Ok(None) } else { Ok(Some(cuda::Gpu::of(self)?.capability())) }
    }

    /// What the caching allocator of this device holds. All zero for a device on which nothing was ever allocated.
    #[must_use]
    pub fn memory_stats(self) -> MemoryStats {
        if self.is_cpu() {
            return allocator::HOST.stats();
        }
        cuda::existing(self).map_or(MemoryStats::default(), |gpu| gpu.pool.stats())
    }

    /// Sets the most bytes that buffers and cache together may take on this device; `None` for no limit. What is in use
    /// already stays, and counts. Changes nothing where the device cannot be used.
    pub fn set_memory_limit(self, limit: Option<usize>) {
        if self.is_cpu() {
            allocator::HOST.set_limit(limit);
        } else if let Ok(gpu) = cuda::Gpu::of(self) {
            gpu.pool.set_limit(limit);
        }
    }

    /// Gives the memory that is cached for reuse back to the system.
    pub fn empty_cache(self) {
        if self.is_cpu() {
            allocator::HOST.empty_cache();
        } else if let Some(gpu) = cuda::existing(self) {
            gpu.let_go_of_arrivals();
            gpu.pool.empty_cache();
        }
    }

    /// Sets the peak of [`memory_stats`](Device::memory_stats) to what is in use now.
    pub fn reset_peak(self) {
        if self.is_cpu() {
            allocator::HOST.reset_peak();
        } else if let Some(gpu) = cuda::existing(self) {
            gpu.pool.reset_peak();
        }
    }
}

impl Default for Device {
    /// The host.
    fn default() -> Device {
        Device::cpu()
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_cpu() { f.pad("cpu") } else { f.pad(&format!("cuda:{}", self.ordinal())) }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Device {
    type Err = Error;

    /// Takes "cpu", "cuda" (ordinal 0) and "cuda:1". Only the text is looked at; [`Device::check`] looks at the machine.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for anything else.
    // The caller is `str::parse`, whose line in the standard library tells nobody anything.
    fn from_str(text: &str) -> Result<Device> {
        let ordinal = match text {
            "cpu" | "cpu:0" => return Ok(Device::cpu()),
            "cuda" => Some(0),
            _ => text
                .strip_prefix("cuda:")
                .filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|n| n.parse().ok()),
        };
        match ordinal {
            Some(n) => Device::cuda_unchecked(n),
            None => {
                let instead = match text {
                    "meta" => {
                        ": no tensor takes memory before it is looked at, so that \"cpu\" does what \"meta\" would"
                    }
                    _ => "",
                };
                let text = format!(
                    "{text:?} is not a device; devices are \"cpu\", \"cuda\" and \"cuda:N\"{instead}"
                );
                Err(Error::new("device", ErrorKind::Value(text)))
            }
        }
    }
}

fn cpu_name() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_parse_as_they_print() {
        for text in ["cpu", "cuda:0", "cuda:13"] {
            assert_eq!(text.parse::<Device>().unwrap().to_string(), text);
        }
        assert_eq!("cuda".parse::<Device>().unwrap().to_string(), "cuda:0");
        for text in
            ["", "CPU", "gpu", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "cuda:99999999999999999999", "cpu:1"]
        {
            assert!(text.parse::<Device>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_cpu_is_always_there() {
        assert!(Device::cpu().check().is_ok());
        assert!(!Device::cpu().name().is_empty());
        assert_eq!(Device::default(), Device::cpu());
    }

    #[test]
    fn an_absent_device_is_an_error_that_names_it() {
        let absent: Device = "cuda:4000000000".parse().unwrap();
        let e = absent.check().unwrap_err();
        assert!(e.to_string().contains("cuda:4000000000"), "{e}");
        assert_eq!(absent.name(), "cuda:4000000000");
    }
}
