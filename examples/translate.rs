//! A transformer learns to translate from a language of its own: every sentence turned around.
//!
//! ```text
//! cargo run --release --example translate -- [steps]
//! ```
//!
//! Prints the loss as it comes, and a sentence with what the model makes of it, word by word.

use micrograd_rs::default_device;
use micrograd_rs::nn::{Attend, Transformer, TransformerOptions};
use micrograd_rs::prelude::*;

const WORDS: [&str; 12] =
    ["<pad>", "<begin>", "<end>", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const PAD: i64 = 0;
const BEGIN: i64 = 1;
const END: i64 = 2;
/// Words of a sentence, at most.
const LONGEST: usize = 5;
const SIZE: usize = 32;
const BATCH: usize = 64;

/// What is added to each word for its place: sines and cosines (Vaswani et al., 2017), `[LONGEST + 2, SIZE]`.
fn positions() -> Result<Tensor> {
    let rates = (Tensor::arange(SIZE / 2).to_dtype(DType::F32) * (-2.0 * 10_000f64.ln() / SIZE as f64)).exp();
    let at = Tensor::arange(LONGEST + 2).to_dtype(DType::F32).unsqueeze(1)? * rates;
    Tensor::stack(&[&at.sin(), &at.cos()], -1)?.flatten(1, -1)
}

#[derive(Module)]
#[module(no_forward)]
struct Translator {
    source: Embedding,
    target: Embedding,
    #[module(buffer)]
    positions: Tensor,
    transformer: Transformer,
    words: Linear,
}

impl Translator {
    fn new() -> Result<Translator> {
        let options = TransformerOptions {
            d_model: SIZE,
            num_heads: 4,
            num_encoder_layers: 2,
            num_decoder_layers: 2,
            dim_feedforward: 2 * SIZE,
            dropout: 0.0,
            ..Default::default()
        };
        Ok(Translator {
            source: Embedding::new(WORDS.len(), SIZE)?,
            target: Embedding::new(WORDS.len(), SIZE)?,
            positions: positions()?,
            transformer: Transformer::new(options)?,
            words: Linear::new(SIZE, WORDS.len())?,
        })
    }

    /// Scores `[n, length, words]` of what follows each word of a target `[n, length]`, which translates a source `[n, given]`.
    fn run(&self, source: &Tensor, target: &Tensor) -> Result<Tensor> {
        let placed = |words: &Embedding, x: &Tensor| {
            let places = self.positions.narrow(0, 0, x.size(1)?)?;
            Ok(words.forward(x)? * (SIZE as f64).sqrt() + places)
        };
        let (unsaid, unheard) = (target.eq(PAD), source.eq(PAD));
        let given = Attend { padding: Some(&unheard), ..Attend::default() };
        // No word sees those that are still to be said.
        let said = Attend { padding: Some(&unsaid), is_causal: true, ..Attend::default() };
        let (source, target) = (placed(&self.source, source)?, placed(&self.target, target)?);
        self.words.forward(&self.transformer.run(&source, &target, given, said, given)?)
    }

    /// A sentence in the other language, each time the word that is the likeliest.
    fn translated(&self, words: &[i64]) -> Result<Vec<i64>> {
        let source = padded(&[words.to_vec()])?;
        let mut said = vec![BEGIN];
        while said.len() < LONGEST + 2 {
            let target = Tensor::from_vec(said.clone(), &[1, said.len()])?.to(default_device())?;
            let scores = self.run(&source, &target)?.select(1, -1)?;
            match scores.argmax(None, false).item::<i64>()? {
                END => break,
                word => said.push(word),
            }
        }
        Ok(said.split_off(1))
    }
}

/// Sentences between their beginnings and ends, and behind what is too short the word that does not count.
fn padded(sentences: &[Vec<i64>]) -> Result<Tensor> {
    let length = sentences.iter().map(|words| words.len() + 2).max().unwrap_or(0);
    let mut all = vec![];
    for words in sentences {
        all.push(BEGIN);
        all.extend(words);
        all.push(END);
        all.extend(std::iter::repeat_n(PAD, length - words.len() - 2));
    }
    Tensor::from_vec(all, &[sentences.len(), length])?.to(default_device())
}

/// Sentences of two words and more.
fn sentences(count: usize) -> Result<Vec<Vec<i64>>> {
    let lengths = Tensor::randint(2, LONGEST as i64 + 1, &[count], DType::I64, None)?.to_vec::<i64>()?;
    let words =
        Tensor::randint(3, WORDS.len() as i64, &[count * LONGEST], DType::I64, None)?.to_vec::<i64>()?;
    Ok(lengths.iter().zip(words.chunks(LONGEST)).map(|(&n, words)| words[..n as usize].to_vec()).collect())
}

fn turned(words: &[i64]) -> Vec<i64> {
    words.iter().rev().copied().collect()
}

fn text(words: &[i64]) -> String {
    words.iter().map(|&word| WORDS[word as usize]).collect::<Vec<_>>().join(" ")
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let steps: usize = std::env::args().nth(1).map_or(Ok(600), |text| text.parse())?;
    manual_seed(0);
    let model = Translator::new()?;
    let loss_of = CrossEntropyLoss { ignore_index: Some(PAD), ..Default::default() };
    let options = optim::AdamOptions { lr: 3e-3, betas: (0.9, 0.98), ..Default::default() };
    let mut adam = Adam::with_options(model.parameters(), options)?;
    for step in 1..=steps {
        let batch = sentences(BATCH)?;
        let target = padded(&batch.iter().map(|words| turned(words)).collect::<Vec<_>>())?;
        let length = target.size(1)? - 1;
        let scores = model.run(&padded(&batch)?, &target.narrow(1, 0, length)?)?;
        let loss = loss_of.forward(&scores.transpose(1, 2)?, &target.narrow(1, 1, length)?)?;
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
        if step % (steps / 10).max(1) == 0 {
            println!("step {step}: loss {:.3}", loss.item::<f32>()?);
        }
    }
    model.eval();
    let _guard = no_grad();
    let asked = sentences(20)?;
    let answers = asked.iter().map(|words| model.translated(words)).collect::<Result<Vec<_>>>()?;
    let right = asked.iter().zip(&answers).filter(|(words, answer)| turned(words) == **answer).count();
    println!("{} -> {}", text(&asked[0]), text(&answers[0]));
    println!("{right} of {} right", asked.len());
    Ok(())
}
