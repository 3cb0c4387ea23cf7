//! An LSTM learns first names letter by letter and makes up others.
//!
//! ```text
//! cargo run --release --example names -- [steps [file of names, one a line]]
//! ```
//!
//! Without a file it learns a few names that stand here.

use micrograd_rs::nn::data::text::{Characters, Tokenizer};
use micrograd_rs::nn::{RecurrentOptions, utils};
use micrograd_rs::prelude::*;

const FEW: &str =
    "anna emma mia lena lea nora maria marie laura julia sarah lisa hannah leonie amelie clara ida ella";
const BATCH: usize = 32;
/// The label of what does not count.
const PADDING: i64 = -100;

/// What letter follows, from all letters before it.
#[derive(Module)]
#[module(no_forward)]
struct Names {
    embedding: Embedding,
    lstm: LSTM,
    letters: Linear,
}

type Memory = (Tensor, Tensor);

impl Names {
    fn new(letters: usize, size: usize) -> Result<Names> {
        let options =
            RecurrentOptions { num_layers: 2, batch_first: true, dropout: 0.1, ..Default::default() };
        Ok(Names {
            embedding: Embedding::new(letters, 16)?,
            lstm: LSTM::with_options(16, size, options)?,
            letters: Linear::new(size, letters)?,
        })
    }

    /// Scores `[n, length, letters]` of what follows each letter `[n, length]`, and what is remembered.
    fn run(&self, x: &Tensor, memory: Option<&Memory>) -> Result<(Tensor, Memory)> {
        let memory = memory.map(|(state, cell)| (state, cell));
        let (output, memory) = self.lstm.run(&self.embedding.forward(x)?, memory)?;
        Ok((self.letters.forward(&output)?, memory))
    }

    /// A name, one letter after the other; the first letter of the alphabet begins and ends it.
    fn draw(&self, letters: &Characters) -> Result<String> {
        let (mut letter, mut memory, mut name) = (Tensor::zeros(&[1, 1], DType::I64)?, None, vec![]);
        for _ in 0..12 {
            let (scores, next) = self.run(&letter, memory.as_ref())?;
            let odds = (scores.select(1, -1)? / 0.8).softmax(Some(-1), None);
            letter = odds.multinomial(1, false, None);
            memory = Some(next);
            match letter.item::<i64>()? {
                0 => break,
                drawn => name.push(drawn),
            }
        }
        letters.decode(&name)
    }
}

/// Names, and what follows each of their letters; what is too short is filled up with what does not count.
fn batch(names: &[Vec<i64>], chosen: &[i64]) -> Result<(Tensor, Tensor)> {
    let chosen: Vec<&Vec<i64>> = chosen.iter().map(|&i| &names[i as usize]).collect();
    let length = chosen.iter().map(|name| name.len() - 1).max().unwrap_or(0);
    let (mut x, mut y) = (vec![], vec![]);
    for name in &chosen {
        let missing = length + 1 - name.len();
        x.extend(name[..name.len() - 1].iter().copied().chain(std::iter::repeat_n(0, missing)));
        y.extend(name[1..].iter().copied().chain(std::iter::repeat_n(PADDING, missing)));
    }
    let shape = [chosen.len(), length];
    Ok((Tensor::from_vec(x, &shape)?, Tensor::from_vec(y, &shape)?))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let steps: usize = arguments.first().map_or(Ok(300), |text| text.parse())?;
    let text = arguments.get(1).map_or(Ok(FEW.replace(' ', "\n")), std::fs::read_to_string)?.to_lowercase();
    let lines = text.lines().map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<&str> = lines.filter(|name| name.chars().all(|c| c.is_ascii_lowercase())).collect();
    // The point stands before and after a name.
    let letters = Characters::with(std::iter::once('.').chain('a'..='z'));
    let numbers = names.iter().map(|name| letters.encode(&format!(".{name}.")));
    let numbers = numbers.collect::<Result<Vec<Vec<i64>>>>()?;
    manual_seed(0);
    let model = Names::new(letters.vocab_size(), 64)?;
    println!("{}, {} names", model.describe(), names.len());
    let mut adam = Adam::new(model.parameters(), 5e-3)?;
    for step in 1..=steps {
        let chosen = Tensor::randint(0, names.len() as i64, &[BATCH], DType::I64, None)?.to_vec::<i64>()?;
        let (x, y) = batch(&numbers, &chosen)?;
        let scores = model.run(&x, None)?.0.transpose(1, 2)?;
        let loss =
            CrossEntropyLoss { ignore_index: Some(PADDING), ..Default::default() }.forward(&scores, &y)?;
        adam.zero_grad();
        loss.backward()?;
        utils::clip_grad_norm_(&model.parameters(), 5.0, 2.0)?;
        adam.step()?;
        if step % (steps / 10).max(1) == 0 {
            println!("step {step}: loss {:.3}", loss.item::<f32>()?);
        }
    }
    model.eval();
    let _guard = no_grad();
    let drawn = (0..8).map(|_| model.draw(&letters)).collect::<Result<Vec<String>>>()?;
    println!("drawn: {}", drawn.join(" "));
    Ok(())
}
