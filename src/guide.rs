//! The pages of the guide, whose programs in Rust are compiled and run. A test in `crates/mg-py/tests` sees to it
//! that none is left out.

macro_rules! pages {
    ($($Page:ident $file:literal),* $(,)?) => {$(
        #[doc = include_str!(concat!("../docs/guide/src/", $file))]
        pub struct $Page;
    )*};
}

pages! {
    Start "start.md",
    Tensors "tensors.md",
    Gradients "gradients.md",
    Training "training.md",
    Data "data.md",
    Watching "watching.md",
    Checkpoints "checkpoints.md",
    Precision "precision.md",
    Attention "attention.md",
    Replays "jit.md",
    Onnx "onnx.md",
    Fusion "fusion.md",
    Own "own.md",
    ExamplePerceptron "example-perceptron.md",
    ExampleMnist "example-mnist.md",
    ExampleResNet "example-resnet.md",
    ExampleAutoencoder "example-autoencoder.md",
    ExampleVae "example-vae.md",
    ExampleLbfgs "example-lbfgs.md",
    ExamplePinn "example-pinn.md",
    ExampleNames "example-names.md",
    ExampleGpt "example-gpt.md",
    ExampleTranslate "example-translate.md",
    ExampleDcgan "example-dcgan.md",
    ExampleFinetune "example-finetune.md",
    ExampleWeights "example-weights.md",
    ExampleOnnx "example-onnx.md",
    FromPyTorch "from-pytorch.md",
    FromCandleAndBurn "from-candle-and-burn.md",
}
