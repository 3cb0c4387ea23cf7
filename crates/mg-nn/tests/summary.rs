//! Gradients as a whole, tables of modules, ONNX files, tokenizers.

use mg_autograd::{Tensor, manual_seed};
use mg_device::{DType, Result};
use mg_nn::data::text::{Bpe, Bytes, Characters, Tokenizer};
use mg_nn::{Conv2d, Dropout, Flatten, Linear, MSELoss, Module, ReLU, onnx, sequential, summary, utils};

#[test]
fn gradients_are_bounded() -> Result<()> {
    manual_seed(3);
    let layer = Linear::new(4, 2)?;
    let unused = Linear::new(2, 2)?;
    let all: Vec<Tensor> = layer.parameters().into_iter().chain(unused.parameters()).collect();
    let back = || layer.forward(&Tensor::full(&[3, 4], 2.0, DType::F32)?)?.sum().backward();
    back()?;
    // The weights' gradients are 6 each, the biases' 3.
    let norm = (8.0f32 * 36.0 + 2.0 * 9.0).sqrt();
    let was = utils::clip_grad_norm_(&all, 1.5, 2.0)?.item::<f32>()?;
    assert!((was - norm).abs() < 1e-4, "{was}");
    let grads: Vec<Tensor> = all.iter().filter_map(Tensor::grad).collect();
    assert_eq!(grads.len(), 2);
    assert!((utils::get_total_norm(&grads, 2.0)?.item::<f32>()? - 1.5).abs() < 1e-4);
    // What is short enough stays.
    let before = grads[0].to_vec::<f32>()?;
    utils::clip_grad_norm_(&all, 100.0, f64::INFINITY)?;
    assert_eq!(grads[0].to_vec::<f32>()?, before);
    layer.zero_grad();
    back()?;
    utils::clip_grad_value_(&all, 4.0)?;
    assert_eq!(layer.weight.grad().map(|g| g.to_vec::<f32>()).transpose()?, Some(vec![4.0; 8]));
    // As in PyTorch: the upper bound holds last.
    utils::clip_grad_value_(&all, -1.0)?;
    assert_eq!(layer.weight.grad().map(|g| g.to_vec::<f32>()).transpose()?, Some(vec![-1.0; 8]));
    assert_eq!(utils::get_total_norm(&[], 2.0)?.item::<f32>()?, 0.0);
    Ok(())
}

#[test]
fn parameters_are_a_line() -> Result<()> {
    let layer = Linear::new(3, 2)?;
    let line = utils::parameters_to_vector(&layer.parameters())?;
    assert_eq!(*line.shape(), [8]);
    utils::vector_to_parameters(&(Tensor::arange(8).to_dtype(DType::F32)), &layer.parameters())?;
    assert_eq!(layer.weight.to_vec::<f32>()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(utils::vector_to_parameters(&Tensor::zeros(&[7], DType::F32)?, &layer.parameters()).is_err());
    Ok(())
}

#[test]
fn a_table_tells_what_modules_cost() -> Result<()> {
    let model = sequential![
        Conv2d::new(1, 4, [3, 3])?,
        sequential![ReLU, Flatten::default()],
        Dropout::new(0.5)?,
        Linear::new(4 * 36, 10)?
    ];
    model.eval();
    let table = summary(&model, &Tensor::zeros(&[2, 1, 8, 8], DType::F32)?)?;
    let shapes = |at: usize| table.rows[at].shapes.map(|[_, given]| given.to_vec());
    assert_eq!(table.rows.len(), 7);
    assert_eq!(
        (shapes(0), shapes(1), shapes(2)),
        (Some(vec![2, 10]), Some(vec![2, 4, 6, 6]), Some(vec![2, 144]))
    );
    assert_eq!(
        (table.rows[0].parameters, table.rows[6].parameters, table.bytes),
        (40 + 1450, 1450, 4 * 1490)
    );
    // A product has two operations for each weight and sample.
    let cost = table.rows[6].cost.unwrap_or_default()[0];
    assert!((2 * 2 * 1440..2 * 2 * 1440 + 100).contains(&cost), "{cost}");
    assert!(table.rows[0].cost.unwrap_or_default()[0] > cost);
    let text = table.to_string();
    assert!(text.contains("0: Conv2d(1, 4") && text.lines().count() == 9, "{text}");
    Ok(())
}

#[test]
fn files_of_others_are_written() -> Result<()> {
    manual_seed(1);
    let model = sequential![Linear::new(3, 4)?, Dropout::new(0.5)?, Linear::new(4, 2)?];
    let x = Tensor::zeros(&[1, 3], DType::F32)?;
    let text = onnx::export(&model, &[&x], &onnx::Options::default()).err().map(|e| e.to_string());
    assert!(text.is_some_and(|text| text.contains("draws random numbers")));
    model.eval();
    let options = onnx::Options {
        input_names: vec!["x".into()],
        output_names: vec!["y".into()],
        dynamic_axes: vec![(0, 0, "batch".into())],
    };
    let file = onnx::export(&model, &[&x], &options)?;
    let has = |words: &str| file.windows(words.len()).any(|part| part == words.as_bytes());
    assert!(has("0.weight") && has("2.bias") && has("batch") && has("MatMul") && !has("input_0"));
    // Weights stand in it as they are.
    let bytes: Vec<u8> =
        model.parameters()[0].to_vec::<f32>()?.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(file.windows(bytes.len()).any(|part| part == bytes));
    let loss = |x: &[Tensor]| Ok(vec![MSELoss::default().forward(&x[0], &x[1])?]);
    assert!(!onnx::export_function(loss, &[&x, &x], &[], &Default::default())?.is_empty());
    let wrong = onnx::Options { dynamic_axes: vec![(0, 2, "n".into())], ..Default::default() };
    assert!(onnx::export(&model, &[&x], &wrong).is_err());
    Ok(())
}

#[test]
fn what_is_learnt_gives_texts_back() -> Result<()> {
    let text = "It's 12 o'clock — naïve café, 日本語 🙂\n\n  and  so on, and so on, and so on";
    let bpe = Bpe::train([text], 280, &["<end>"], 1)?;
    for tokenizer in [&bpe as &dyn Tokenizer, &Bytes, &Characters::of(text)] {
        let ids = tokenizer.encode(text)?;
        assert_eq!(tokenizer.decode(&ids)?, text);
        assert!(ids.iter().all(|&id| (id as usize) < tokenizer.vocab_size()));
        assert!(tokenizer.decode(&[-1]).is_err());
    }
    let path = std::env::temp_dir().join(format!("tokenizer-{}.json", std::process::id()));
    bpe.save(&path)?;
    assert_eq!(Bpe::from_file(&path)?.encode(text)?, bpe.encode(text)?);
    let bytes = std::fs::read(&path).unwrap_or_default();
    // Whatever is cut off or changed, a file is refused or read, and nothing else.
    for at in (0..bytes.len()).step_by(97) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x15;
        for broken in [&bytes[..at], &changed] {
            std::fs::write(&path, broken)
                .map_err(|e| mg_device::Error::new("test", mg_device::ErrorKind::Io(e.to_string())))?;
            if let Ok(read) = Bpe::from_file(&path) {
                let _ = read.encode(text);
            }
        }
    }
    let _ = std::fs::remove_file(&path);
    Ok(())
}
