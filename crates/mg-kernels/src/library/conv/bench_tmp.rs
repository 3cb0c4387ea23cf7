use super::{Conv, ConvKind};
use crate::library::{Kernel, Operand, Shaped};
use mg_device::{DType, Layout, Shape};
fn cpu_time() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}
#[test]
#[ignore]
fn bench() {
    let sel = std::env::var("SEL").unwrap_or_default();
    let only = std::env::var("ONLY").unwrap_or("fxw".into());
    crate::cpu::pool::set_num_threads(1);
    for line in std::fs::read_to_string("/tmp/layers.txt").unwrap().lines() {
        let f: Vec<&str> = line.split(',').collect();
        if !sel.is_empty() && !sel.split(',').any(|s| f[0].contains(s)) {
            continue;
        }
        let v: Vec<usize> = f[1..].iter().map(|s| s.parse().unwrap()).collect();
        let [n, c, o, hw, k, s, p] = v[..] else { panic!() };
        let oh = (hw + 2 * p - k) / s + 1;
        let (xs, ws, ys) = ([n, c, hw, hw], [o, c, k, k], [n, o, oh, oh]);
        let mk = |sz: &[usize]| -> Vec<f32> {
            let len: usize = sz.iter().product();
            (0..len).map(|i| ((i * 7919) % 1000) as f32 / 1000.0 - 0.5).collect()
        };
        let (x, w, y) = (mk(&xs), mk(&ws), mk(&ys));
        let base = Conv {
            kind: ConvKind::Forward,
            axes: 2,
            stride: [1, s as u32, s as u32],
            padding: [0, p as u32, p as u32],
            dilation: [1; 3],
            groups: 1,
            sizes: [0; 3],
        };
        let fl = 2.0 * (n * o * oh * oh * c * k * k) as f64;
        let mut row = format!("{:20} {:6.2}", f[0], fl / 1e9);
        for (kk, kind, a, sa, b, sb, sz) in [
            ("f", ConvKind::Forward, &x, &xs, &w, &ws, [0; 3]),
            ("x", ConvKind::Input, &y, &ys, &w, &ws, [1, hw as u32, hw as u32]),
            ("w", ConvKind::Weight, &x, &xs, &y, &ys, [1, k as u32, k as u32]),
        ] {
            if !only.contains(kk) {
                continue;
            }
            let conv = Conv { kind, sizes: sz, ..base };
            let sh = |s: &[usize]| Shaped { shape: Shape::of(s), dtype: DType::F32 };
            let r = conv.result(&[sh(sa), sh(sb)]).unwrap();
            let mut out = vec![0f32; r.shape.numel()];
            let op = |d: &Vec<f32>, s: &[usize]| Operand {
                base: d.as_ptr().cast(),
                layout: Layout::contiguous(Shape::of(s)),
                dtype: DType::F32,
            };
            let ops = [op(a, sa), op(b, sb)];
            let mut best = 1e9f64;
            let reps = std::env::var("REPS").ok().and_then(|v| v.parse().ok()).unwrap_or(8);
            for _ in 0..reps {
                let t = cpu_time();
                unsafe { conv.cpu(&ops, out.as_mut_ptr().cast(), &r).unwrap() };
                best = best.min(cpu_time() - t);
            }
            row += &format!(" | {:9.0} {:6.1}", best * 1e6, fl / best / 1e9);
        }
        println!("{row}");
    }
}
