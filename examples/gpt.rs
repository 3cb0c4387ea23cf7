//! A small GPT learns a text letter by letter and goes on with it.
//!
//! ```text
//! cargo run --release --example gpt -- [steps [file of text [layers [size [context]]]]]
//! ```
//!
//! Prints the loss on what it learns from and on the tenth of the text that it has not seen, and text that it draws on the way. Steps are
//! replayed, and so are letters: what attention has made of those before is kept in a cache, so that each costs one letter's
//! work. Without a file it learns a few lines that stand here.

use std::cell::RefCell;
use std::time::Instant;

use micrograd_rs::nn::data::text::{Characters, Tokenizer};
use micrograd_rs::nn::{init, utils};
use micrograd_rs::prelude::*;

const LINES: &str =
    "the cat sat on the mat and the dog sat on the log. the cow saw the cat and the owl saw the dog. ";
const BATCH: usize = 16;
const HEADS: usize = 4;

/// Keys and values of all letters before, with room for a whole context: of each block `[n, heads, context, features]`.
type Cache = (Tensor, Tensor);

#[derive(Module)]
#[module(no_forward)]
struct Block {
    norm1: LayerNorm,
    qkv: Linear,
    out: Linear,
    norm2: LayerNorm,
    mlp: Sequential,
}

impl Block {
    fn new(size: usize) -> Result<Block> {
        let plain =
            |from, to| Linear::with_options(from, to, LinearOptions { bias: false, ..Default::default() });
        Ok(Block {
            norm1: LayerNorm::new(&[size])?,
            qkv: plain(size, 3 * size)?,
            out: plain(size, size)?,
            norm2: LayerNorm::new(&[size])?,
            mlp: sequential![
                Linear::new(size, 4 * size)?,
                GELU::default(),
                Linear::new(4 * size, size)?,
                Dropout::new(0.1)?
            ],
        })
    }

    /// Each letter attends to itself and those before it; with a cache, `at` has the letters' places.
    fn run(&self, x: &Tensor, cache: Option<(&Cache, &Tensor)>) -> Result<Tensor> {
        let [n, steps, size] = [x.size(0)?, x.size(1)?, x.size(2)?];
        let parts = self.qkv.forward(&self.norm1.forward(x)?)?.chunk(3, 2)?;
        let head =
            |part: &Tensor| part.reshape(&[n as isize, steps as isize, HEADS as isize, -1])?.transpose(1, 2);
        let (q, k, v) = (head(&parts[0])?, head(&parts[1])?, head(&parts[2])?);
        let y = match cache {
            None => q.try_scaled_dot_product_attention(&k, &v, None, 0.0, true, None, false, None)?,
            Some(((keys, values), at)) => {
                // Those at the letters' places are written, those up to them are read.
                keys.index_copy_(2, at, &k)?;
                values.index_copy_(2, at, &v)?;
                let known = Tensor::arange(keys.size(2)?).le(&at.unsqueeze(1)?);
                q.try_scaled_dot_product_attention(keys, values, Some(&known), 0.0, false, None, false, None)?
            }
        };
        let y = y.transpose(1, 2)?.reshape(&[n as isize, steps as isize, size as isize])?;
        let x = x + self.out.forward(&y)?;
        Ok(&x + self.mlp.forward(&self.norm2.forward(&x)?)?)
    }
}

#[derive(Module)]
#[module(no_forward)]
struct Gpt {
    letter: Embedding,
    place: Embedding,
    blocks: Vec<Block>,
    norm: LayerNorm,
    context: usize,
}

impl Gpt {
    fn new(letters: usize, context: usize, size: usize, layers: usize) -> Result<Gpt> {
        let blocks = (0..layers).map(|_| Block::new(size)).collect::<Result<Vec<Block>>>()?;
        let (letter, place) = (Embedding::new(letters, size)?, Embedding::new(context, size)?);
        let model = Gpt { letter, place, blocks, norm: LayerNorm::new(&[size])?, context };
        for (name, p) in model.named_parameters() {
            let last = name.ends_with("out.weight") || name.ends_with("mlp.2.weight");
            match p.rank() {
                1 if name.ends_with("bias") => init::constant_(&p, 0.0)?,
                1 => {}
                _ => init::normal_(
                    &p,
                    0.0,
                    if last { 0.02 / (2.0 * layers as f64).sqrt() } else { 0.02 },
                    None,
                )?,
            }
        }
        Ok(model)
    }

    /// Scores `[n, length, letters]` of what follows each letter `[n, length]`, which stand at the places `at`.
    fn run(&self, letters: &Tensor, at: &Tensor, caches: Option<&[Cache]>) -> Result<Tensor> {
        let mut x = self.letter.forward(letters)? + self.place.forward(at)?;
        for (i, block) in self.blocks.iter().enumerate() {
            x = block.run(&x, caches.map(|caches| (&caches[i], at)))?;
        }
        // The letters' own vectors say what follows.
        self.norm.forward(&x)?.try_matmul(&self.letter.weight.transpose(0, 1)?)
    }

    fn loss(&self, window: &Tensor) -> Result<Tensor> {
        let steps = window.size(1)? - 1;
        let scores = self.run(&window.narrow(1, 0, steps)?, &Tensor::arange(steps), None)?;
        let targets = window.narrow(1, 1, steps)?.flatten(0, -1)?;
        CrossEntropyLoss::default().forward(&scores.flatten(0, 1)?, &targets)
    }

    /// Letters after `start`, as many as the context has room for at most.
    fn generate(&self, start: &[i64], count: usize) -> Result<Vec<i64>> {
        let _guard = no_grad();
        self.eval();
        let features = self.letter.weight.size(1)? / HEADS;
        let room = || Tensor::zeros(&[1, HEADS, self.context, features], DType::F32);
        let caches = self.blocks.iter().map(|_| Ok((room()?, room()?))).collect::<Result<Vec<Cache>>>()?;
        let following = |letters: &Tensor, at: &Tensor| -> Result<Vec<Tensor>> {
            let scores = self.run(letters, at, Some(&caches))?.select(1, -1)?;
            let letter = (scores / 0.8).softmax(Some(-1), None).multinomial(1, false, None);
            Ok(vec![letter, at.narrow(0, -1, 1)? + 1.0])
        };
        let n = start.len();
        let mut next = following(&Tensor::from_vec(start.to_vec(), &[1, n])?, &Tensor::arange(n))?;
        // One letter: always of the same shape, so it is replayed.
        let mut one_more = jit(|of: &[Tensor]| following(&of[0], &of[1].to_dtype(DType::I64)));
        let mut drawn = start.to_vec();
        for _ in 0..count.min(self.context - n) {
            drawn.push(next[0].item::<i64>()?);
            next = one_more.call(&[&next[0], &next[1].to_dtype(DType::I64)])?;
        }
        self.train(true);
        Ok(drawn)
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let steps = number(0, 500)?;
    let text = match arguments.get(1).filter(|path| *path != "-") {
        Some(path) => std::fs::read_to_string(path)?,
        None => LINES.repeat(40),
    };
    let (layers, size, context) = (number(2, 2)?, number(3, 64)?, number(4, 64)?);
    manual_seed(1337);
    let letters = Characters::of(&text);
    let data = letters.encode(&text)?;
    let (n, all) = (data.len() * 9 / 10, data.len());
    let data = Tensor::from_vec(data, &[all])?;
    let parts = [data.narrow(0, 0, n)?, data.narrow(0, n as isize, all - n)?];
    let window = |part: &Tensor| -> Result<Tensor> {
        let last = (part.numel() - context - 1) as i64;
        let at = Tensor::randint(0, last, &[BATCH, 1], DType::I64, None)? + Tensor::arange(context + 1);
        part.index_select(0, &at.flatten(0, -1)?)?.reshape(&[BATCH as isize, -1])
    };
    let model = Gpt::new(letters.vocab_size(), context, size, layers)?;
    let count: usize = model.parameters().iter().map(Tensor::numel).sum();
    println!("{count} parameters, {} letters", letters.vocab_size());
    let adam = RefCell::new(AdamW::new(model.parameters(), 1e-3)?);
    let mut learn = jit(|_: &[Tensor]| {
        let loss = model.loss(&window(&parts[0])?)?;
        let mut adam = adam.borrow_mut();
        adam.zero_grad();
        loss.backward()?;
        utils::clip_grad_norm_(&model.parameters(), 1.0, 2.0)?;
        adam.step()?;
        Ok(vec![loss])
    });
    let every = (steps / 5).max(1);
    let mut start = Instant::now();
    for step in 1..=steps {
        let loss = learn.call(&[])?.remove(0);
        if step % every == 0 {
            let seen = loss.item::<f32>()?;
            let ms = start.elapsed().as_secs_f64() * 1e3 / every as f64;
            model.eval();
            let unseen = no_grad_loss(&model, &window(&parts[1])?)?;
            let drawn = letters.decode(&model.generate(&[0], 60)?)?;
            println!("step {step}: loss {seen:.3}, {unseen:.3} unseen, {ms:.1} ms a step, draws {drawn:?}");
            start = Instant::now();
        }
    }
    Ok(())
}

fn no_grad_loss(model: &Gpt, window: &Tensor) -> Result<f32> {
    let _guard = no_grad();
    model.loss(window)?.item::<f32>()
}
