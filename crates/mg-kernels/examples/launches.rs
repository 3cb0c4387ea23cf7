//! Plans of library kernels as JSON, one for each line of stdin: what `kernels/bench` launches on a machine with a GPU.
//!
//!     matmul f32 high 80 16 a=100x784:784,1 b=784x10:10,1 epilogue tile=64x64 splits=3
//!     gather 4 AXIS ALIGN x=SHAPE:STRIDES index=SHAPE:STRIDES
//!     scatter f32 AXIS SIZE x=SHAPE:STRIDES index=SHAPE:STRIDES
//!     put f32 PLACES COUNT [one]
//!     sort indices|values|median|mode f32 ROWSxLENGTH [descending]
//!     many bf16 DEPTH sizes=MxN,MxN...
//!     attention forward|backward bf16 high 90 16 q=SHAPE:STRIDES k=SHAPE:STRIDES v=SHAPE:STRIDES [bool=SHAPE|number=SHAPE] [causal|near=BEHIND,AHEAD] scale=0.125
//!     conv forward|input|weight bf16 high 90 16 stride=1,1 padding=1,1 dilation=1,1 groups=1 sizes=3,3 a=SHAPE b=SHAPE
//!     copy 4 ALIGN from=SHAPE:STRIDES to=SHAPE:STRIDES
//!     fill 4 COUNT BITS

use mg_device::cuda::{Moved, TensorMap, WindowMap};
use mg_device::{DType, Layout, Shape};
use mg_kernels::cuda::library::{KernelPlan, MAX_ARGS, Map, Pointer, copy};
use mg_kernels::library::attention::{Attention, AttentionKind, Span};
use mg_kernels::library::conv::{Conv, ConvKind};
use mg_kernels::library::gather::cuda::{gather, scatter_add};
use mg_kernels::library::matmul::{Epilogue, Precision, Problem, cuda as matmul};
use mg_kernels::library::{Described, Library, Put, Shaped, Sort, SortKind, Target};
use std::io::BufRead;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn layout(words: &[&str], name: &str) -> Result<Layout> {
    let text = option(words, name).ok_or_else(|| format!("no {name}="))?;
    let (shape, strides) = text.split_once(':').ok_or("no ':'")?;
    let dims = shape.split('x').map(str::parse).collect::<std::result::Result<Vec<usize>, _>>()?;
    let strides = strides.split(',').map(str::parse).collect::<std::result::Result<Vec<isize>, _>>()?;
    // Strides may be negative: any offset that keeps the layout within a buffer does.
    Ok(Layout::new(Shape::new(&dims)?, &strides, 1 << 40)?)
}

fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn product(words: &[&str]) -> Result<KernelPlan> {
    let (a, b) = (layout(words, "a")?, layout(words, "b")?);
    let mut problem = Problem::new(words[1].parse()?, &a, &b)?;
    if words[2] == "high" {
        problem.precision = Precision::High;
    }
    problem.capability = words[3].parse()?;
    let align = words[4].parse()?;
    problem.align = [align; 2];
    if words.contains(&"epilogue") {
        problem.epilogue = Some(Epilogue { stores: true });
    }
    let splits = option(words, "splits").map(str::parse).transpose()?;
    match option(words, "tile") {
        // Nothing to launch where the tile does not take the operands.
        Some(tile) => Ok(matmul::plan_with(&problem, tile, splits)?.unwrap_or_default()),
        None => Ok(matmul::plan(&problem)?),
    }
}

/// Numbers of two axes, after a one for the axis that is not there.
fn axes(words: &[&str], name: &str, missing: u32) -> Result<[u32; 3]> {
    let text = option(words, name).ok_or_else(|| format!("no {name}="))?;
    let (a, b) = text.split_once(',').ok_or("no ','")?;
    Ok([missing, a.parse()?, b.parse()?])
}

fn convolution(words: &[&str]) -> Result<KernelPlan> {
    let kind = match words[1] {
        "forward" => ConvKind::Forward,
        "input" => ConvKind::Input,
        _ => ConvKind::Weight,
    };
    let conv = Conv {
        kind,
        axes: 2,
        stride: axes(words, "stride", 1)?,
        padding: axes(words, "padding", 0)?,
        dilation: axes(words, "dilation", 1)?,
        groups: option(words, "groups").ok_or("no groups=")?.parse()?,
        sizes: axes(words, "sizes", 1)?,
    };
    let (dtype, align) = (words[2].parse()?, words[5].parse()?);
    let operand = |name: &str| -> Result<Described> {
        let text = option(words, name).ok_or_else(|| format!("no {name}="))?;
        let dims = text.split('x').map(str::parse).collect::<std::result::Result<Vec<usize>, _>>()?;
        Ok(Described { layout: Layout::contiguous(Shape::new(&dims)?), dtype, align })
    };
    let operands = [operand("a")?, operand("b")?];
    if let Some(tile) = option(words, "tile") {
        let target = target(words, align)?;
        return Ok(conv.cuda_with(&operands, target, tile)?);
    }
    let kernel = Library::from(conv);
    let result = kernel.result(&operands.map(|o| Shaped { shape: *o.layout.shape(), dtype }))?;
    Ok(kernel.cuda(&operands, &result, target(words, align)?)?)
}

/// Several gradients of weights, of one depth.
fn many(words: &[&str], depth: usize) -> Result<KernelPlan> {
    let dtype = words[1].parse()?;
    let sizes = option(words, "sizes").ok_or("no sizes=")?;
    let problem = |size: &str| -> Result<Problem> {
        let (m, n) = size.split_once('x').ok_or("no 'x'")?;
        let a = Layout::contiguous(Shape::new(&[depth, m.parse()?])?).transpose(0, 1)?;
        let mut problem = Problem::new(dtype, &a, &Layout::contiguous(Shape::new(&[depth, n.parse()?])?))?;
        (problem.precision, problem.capability) = (Precision::High, 90);
        Ok(problem)
    };
    let problems = sizes.split(',').map(problem).collect::<Result<Vec<Problem>>>()?;
    Ok(matmul::together(&problems)?.ok_or("no one launch of these")?)
}

fn attention(words: &[&str]) -> Result<KernelPlan> {
    let (dtype, align): (DType, usize) = (words[2].parse()?, words[5].parse()?);
    let described = |layout, dtype| Described { layout, dtype, align };
    let dense = |dims: &[usize]| -> Result<Layout> { Ok(Layout::contiguous(Shape::new(dims)?)) };
    let mut operands = vec![];
    for name in ["q", "k", "v"] {
        operands.push(described(layout(words, name)?, dtype));
    }
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    for (name, dtype) in [("bool", DType::Bool), ("number", wide)] {
        if let Some(text) = option(words, name) {
            let dims = text.split('x').map(str::parse).collect::<std::result::Result<Vec<usize>, _>>()?;
            operands.push(described(dense(&dims)?, dtype));
        }
    }
    let scale: f64 = option(words, "scale").ok_or("no scale=")?.parse()?;
    let span = match (words.contains(&"causal"), option(words, "near")) {
        (true, _) => Span::CAUSAL,
        (false, None) => Span::ALL,
        (false, Some(bounds)) => {
            let (behind, ahead) = bounds.split_once(',').ok_or("no ','")?;
            Span::new(Some(behind.parse()?), Some(ahead.parse()?)).ok_or("an empty span")?
        }
    };
    let of = |kind| Attention {
        kind,
        span,
        masked: operands.len() > 3,
        left_out: 0,
        ranges: None,
        scale: scale.to_bits(),
    };
    let shaped = |operands: &[Described]| operands.iter().map(Described::shaped).collect::<Vec<Shaped>>();
    let forward = Library::from(of(AttentionKind::Forward));
    let line = forward.result(&shaped(&operands))?;
    if words[1] == "forward" {
        return Ok(forward.cuda(&operands, &line, target(words, align)?)?);
    }
    let backward = Library::from(of(AttentionKind::Backward));
    let (q, v) = (*operands[0].layout.shape(), *operands[2].layout.shape());
    operands.push(described(Layout::contiguous(line.shape), dtype));
    operands.push(described(dense(&[q[0], q[1], q[2], v[3]])?, dtype));
    let result = backward.result(&shaped(&operands))?;
    Ok(backward.cuda(&operands, &result, target(words, align)?)?)
}

/// Values at indices, into memory that has the base already.
fn written(words: &[&str], n: usize, count: usize) -> Result<KernelPlan> {
    let dtype = words[1].parse()?;
    let described = |dims: &[usize], dtype| -> Result<Described> {
        Ok(Described { layout: Layout::contiguous(Shape::new(dims)?), dtype, align: 16 })
    };
    let values = if words.contains(&"one") { vec![] } else { vec![count] };
    let operands = [described(&[n], dtype)?, described(&values, dtype)?, described(&[count], DType::I64)?];
    let target = Target { in_place: true, ..Target::new(16, 90, Precision::Highest) };
    let result = Shaped { shape: *operands[0].layout.shape(), dtype };
    Ok(Library::from(Put { n, inner: 1 }).cuda(&operands, &result, target)?)
}

fn sorted(words: &[&str]) -> Result<KernelPlan> {
    let (rows, length) = words[3].split_once('x').ok_or("no 'x'")?;
    let (rows, length): (usize, usize) = (rows.parse()?, length.parse()?);
    let kind = match words[1] {
        "indices" => SortKind::Indices,
        "values" => SortKind::Values,
        "mode" => SortKind::Mode,
        "median" => SortKind::Median,
        other => return Err(format!("no order '{other}'").into()),
    };
    let picks = matches!(kind, SortKind::Mode | SortKind::Median);
    let dtype = words[2].parse()?;
    let layout = Layout::contiguous(Shape::new(&[rows, length])?);
    let operand = Described { layout, dtype, align: 16 };
    let count = if kind == SortKind::Median { 0 } else { length };
    let kernel = Library::from(Sort { kind, descending: words.contains(&"descending"), count });
    let shape = Shape::new(&if picks { vec![rows] } else { vec![rows, length] })?;
    let result = Shaped { shape, dtype: if words[1] == "values" { dtype } else { DType::I64 } };
    let target = Target::new(16, 90, Precision::Highest);
    Ok(kernel.cuda(&[operand], &result, target)?)
}

fn target(words: &[&str], align: usize) -> Result<Target> {
    let precision = if words[3] == "high" { Precision::High } else { Precision::Highest };
    Ok(Target::new(align, words[4].parse()?, precision))
}

fn plan(words: &[&str]) -> Result<KernelPlan> {
    let number = |at: usize| -> Result<usize> { Ok(words.get(at).ok_or("a word is missing")?.parse()?) };
    Ok(match words[0] {
        "matmul" => product(words)?,
        "conv" => convolution(words)?,
        "many" => many(words, number(2)?)?,
        "attention" => attention(words)?,
        "gather" => {
            gather(number(1)?, &layout(words, "x")?, &layout(words, "index")?, number(2)?, number(3)?, false)?
        }
        "scatter" => {
            let dtype = words[1].parse()?;
            scatter_add(dtype, &layout(words, "x")?, &layout(words, "index")?, number(2)?, number(3)?)?
        }
        "put" => written(words, number(2)?, number(3)?)?,
        "sort" => sorted(words)?,
        "copy" => copy::plan(number(1)?, &layout(words, "from")?, &layout(words, "to")?, number(2)?)?,
        "fill" => copy::fill(number(1)?, number(2)?, words[3].parse()?)?,
        other => return Err(format!("no operation '{other}'").into()),
    })
}

fn json(plan: &KernelPlan) -> String {
    let launches: Vec<String> = plan
        .launches
        .iter()
        .map(|launch| {
            let mut memory = [0; MAX_ARGS];
            let name = |pointer: Pointer| match pointer {
                Pointer::Input(i) => format!("in{i}"),
                Pointer::Output(i) => format!("out{i}"),
                Pointer::Workspace => "workspace".into(),
                Pointer::Tickets => "tickets".into(),
                Pointer::Fault => "fault".into(),
            };
            let args: String =
                launch.bind(&mut memory, |_| 0).iter().map(|byte| format!("{byte:02x}")).collect();
            let pointers: Vec<String> = launch
                .pointers()
                .map(|(at, pointer, offset)| format!("[{at},\"{}\",{offset}]", name(pointer)))
                .collect();
            let maps: Vec<String> = launch
                .maps()
                .iter()
                .map(|map| {
                    let Map { at, pointer, offset, tensor } = map;
                    let pointer = name(*pointer);
                    let tensor = match tensor {
                        Moved::Boxes(TensorMap { elements, sizes, strides, boxes }) => {
                            format!("\"{elements:?}\",{sizes:?},{strides:?},{boxes:?}")
                        }
                        Moved::Windows(WindowMap {
                            elements,
                            sizes,
                            strides,
                            low,
                            high,
                            steps,
                            neighbours,
                            places,
                        }) => format!(
                            "\"{elements:?}\",{sizes:?},{strides:?},{low:?},{high:?},{steps:?},{neighbours},{places}"
                        ),
                    };
                    format!("[{at},\"{pointer}\",{offset},{tensor}]")
                })
                .collect();
            format!(
                "{{\"kernel\":\"{}\",\"grid\":{:?},\"block\":{:?},\"shared\":{},\"args\":\"{args}\",\
                 \"pointers\":[{}],\"maps\":[{}]}}",
                launch.kernel.name,
                launch.grid,
                launch.block,
                launch.shared,
                pointers.join(","),
                maps.join(",")
            )
        })
        .collect();
    format!("{{\"workspace\":{},\"launches\":[{}]}}", plan.workspace, launches.join(","))
}

fn main() -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            println!("{}", json(&plan(&words).map_err(|error| format!("{line}: {error}"))?));
        }
    }
    Ok(())
}
