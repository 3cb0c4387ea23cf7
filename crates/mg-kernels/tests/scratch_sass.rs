//! Scratch.
use mg_device::{DType, Device};
use mg_kernels::cuda::CudaProgram;
#[test]
fn write() {
    let Ok(to) = std::env::var("SASS_OUT") else { return };
    let mut text = String::new();
    for (i, (name, program)) in mg_kernels::cuda::single::programs(DType::F32).iter().enumerate() {
        let made = CudaProgram::of_capability(program, Device::cpu(), (9, 0)).unwrap();
        let ptx = made.ptx(true).unwrap();
        let (head, kernel) = ptx.split_once(".address_size 64\n").unwrap();
        if i == 0 { text += head; text += ".address_size 64\n"; }
        text += &kernel.replacen(".entry k(", &format!(".entry {name}("), 1);
    }
    std::fs::write(to, text).unwrap();
}
