//! What is done to trees of modules, averages of weights, samplers and streams.

use std::sync::{Arc, Mutex};

use mg_autograd::Tensor;
use mg_device::{DType, ErrorKind, Result};
use mg_nn::data::{
    BatchSampler, DataLoader, IterableDataset, IterableLoader, LoaderOptions, RandomSampler, Sampler,
    SequentialSampler, SubsetRandomSampler, TensorDataset, WeightedRandomSampler,
};
use mg_nn::optim::{
    Anneal, AveragedModel, Averaging, ChainedScheduler, ConstantLR, ExponentialLR, Optimizer, SGD, SWALR,
    Schedule, Scheduler, StepLR,
};
use mg_nn::watch::Checkpointer;
use mg_nn::{BatchNorm1d, Hooked, Linear, Module, ReLU, State, sequential};

fn leaf(numbers: &[f32]) -> Tensor {
    Tensor::from_slice(numbers).requires_grad_(true).unwrap()
}

fn vec(t: &Tensor) -> Vec<f32> {
    t.to_vec::<f32>().unwrap()
}

#[test]
fn modules_are_met_by_name_and_from_inside() {
    let net = sequential![Linear::new(2, 3).unwrap(), sequential![ReLU, Linear::new(3, 1).unwrap()]];
    let names: Vec<String> = net.named_modules().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["", "0", "1", "1.0", "1.1"]);
    let mut met = vec![];
    let note = |name: &str, module: &dyn Module| {
        met.push((name.to_string(), module.own_parameters().len()));
        Ok(())
    };
    // A module of whatever kind has them, too.
    let boxed: Box<dyn Module> = Box::new(net);
    boxed.apply(note).unwrap();
    let wanted = [("0", 2), ("1.0", 0), ("1.1", 2), ("1", 0), ("", 0)];
    assert!(met.iter().map(|(name, n)| (name.as_str(), *n)).eq(wanted), "{met:?}");
    assert_eq!(boxed.named_modules().len(), 5);
}

#[test]
fn a_module_goes_to_a_dtype() {
    let net = sequential![Linear::new(2, 3).unwrap(), BatchNorm1d::new(3).unwrap()];
    let x = Tensor::randn(&[4, 2], DType::F32).unwrap();
    let mut sgd = SGD::new(net.parameters(), 0.1).unwrap();
    net.forward(&x).unwrap().square().sum().backward().unwrap();
    let before: Vec<f64> = net.parameters()[0].to_f64_vec().unwrap();
    let gradient = net.parameters()[0].grad().unwrap().to_f64_vec().unwrap();
    net.to_dtype(DType::F64).unwrap();
    assert!(net.parameters().iter().all(|p| p.dtype() == DType::F64 && p.is_leaf() && p.requires_grad()));
    assert_eq!(net.parameters()[0].to_f64_vec().unwrap(), before);
    assert_eq!(net.parameters()[0].grad().unwrap().to_f64_vec().unwrap(), gradient);
    let counted = net.named_buffers().into_iter().find(|(name, _)| name.ends_with("num_batches_tracked"));
    assert_eq!(counted.unwrap().1.dtype(), DType::I64);
    // The optimiser has the same tensors.
    sgd.step().unwrap();
    assert!((net.parameters()[0].to_f64_vec().unwrap()[0] - (before[0] - 0.1 * gradient[0])).abs() < 1e-12);
    net.forward(&x.to_dtype(DType::F64)).unwrap().sum().backward().unwrap();
    assert!(matches!(net.to_dtype(DType::I64).unwrap_err().kind(), ErrorKind::DType(_)));
}

#[test]
fn hooks_around_a_module() {
    let layer = Hooked::new(Linear::new(2, 2).unwrap());
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = told.clone();
    let pre = layer.register_forward_pre_hook(Arc::new(move |_, x| {
        notes.lock().unwrap().push("before".into());
        Ok(Some(x * 2.0))
    }));
    let notes = told.clone();
    let post = layer.register_forward_hook(Arc::new(move |_, x, y| {
        notes.lock().unwrap().push(format!("after {:?}", vec(&x.detach())));
        Ok(Some(y + 1.0))
    }));
    let notes = told.clone();
    let back = layer.register_full_backward_hook(Arc::new(move |_, input, output| {
        notes.lock().unwrap().push(format!("backward {:?} {:?}", input.map(vec), vec(output)));
        Ok(input.map(|g| g * 10.0))
    }));
    let (w, b) = (layer.module().weight.detach(), layer.module().bias.clone().unwrap().detach());
    let x = leaf(&[1.0, -1.0]);
    let y = layer.forward(&x).unwrap();
    let wanted = w.matmul(&(&x.detach() * 2.0)) + &b + 1.0;
    assert!(vec(&y).iter().zip(vec(&wanted)).all(|(a, b)| (a - b).abs() < 1e-5));
    y.sum().backward().unwrap();
    let gradient = w.sum_dim(&[0], false);
    let wanted = format!("backward {:?} [1.0, 1.0]", Some(vec(&gradient)));
    assert_eq!(*told.lock().unwrap(), ["before", "after [2.0, -2.0]", wanted.as_str()]);
    // The hook's gradient goes on, through the hook before the module.
    let found = vec(&x.grad().unwrap());
    assert!(found.iter().zip(vec(&gradient)).all(|(a, b)| (a - 20.0 * b).abs() < 1e-4));
    // An input that requires no gradient has none to tell.
    told.lock().unwrap().clear();
    layer.forward(&x.detach()).unwrap().sum().backward().unwrap();
    assert_eq!(told.lock().unwrap()[2], "backward None [1.0, 1.0]");
    assert!(layer.remove(pre) && layer.remove(post) && layer.remove(back) && !layer.remove(back));
    told.lock().unwrap().clear();
    layer.forward(&x).unwrap().sum().backward().unwrap();
    assert!(told.lock().unwrap().is_empty());
    assert_eq!(layer.named_parameters()[0].0, "weight");
}

/// The averages of PyTorch's `AveragedModel`: the first is taken as it is.
#[test]
fn weights_are_averaged() {
    let make = || Linear::new(1, 1).unwrap();
    for (averaging, wanted) in
        [(Averaging::Mean, [1.0, 1.5, 2.0]), (Averaging::Ema(0.75), [1.0, 1.25, 1.6875])]
    {
        let model = make();
        let average = AveragedModel::new(&model, make(), averaging).unwrap();
        assert_eq!(vec(&average.module.weight), vec(&model.weight));
        for (n, wanted) in (1..=3).zip(wanted) {
            mg_nn::init::constant_(&model.weight, f64::from(n)).unwrap();
            average.update_parameters(&model).unwrap();
            assert_eq!(vec(&average.module.weight), [wanted]);
            assert_eq!(average.n_averaged.item::<i64>().unwrap(), i64::from(n));
        }
        let other = AveragedModel::new(&model, make(), averaging).unwrap();
        other.load_state(&average.state()).unwrap();
        assert_eq!(vec(&other.module.weight), vec(&average.module.weight));
        assert_eq!(other.n_averaged.item::<i64>().unwrap(), 3);
        assert!(average.update_parameters(&sequential![make()]).is_err());
    }
    // A mean of halves counts beyond what they hold, of which 257 is 256.
    let (model, copy) = (make(), make());
    model.to_dtype(DType::BF16).unwrap();
    copy.to_dtype(DType::BF16).unwrap();
    let average = AveragedModel::new(&model, copy, Averaging::Mean).unwrap();
    average.n_averaged.assign(Tensor::full(&[], 256.0, DType::I64).unwrap()).unwrap();
    mg_nn::init::constant_(&average.module.weight, 0.0).unwrap();
    mg_nn::init::constant_(&model.weight, 256.0).unwrap();
    average.update_parameters(&model).unwrap();
    assert_eq!(average.module.weight.dtype(), DType::BF16);
    assert_eq!(average.module.weight.to_f64_vec().unwrap(), [1.0 - 1.0 / 256.0]);
    // Buffers are the last ones, or averages.
    for (use_buffers, wanted) in [(false, 4.0), (true, 3.0)] {
        let (model, copy) = (BatchNorm1d::new(1).unwrap(), BatchNorm1d::new(1).unwrap());
        let average = AveragedModel::new(&model, copy, Averaging::Mean).unwrap().use_buffers(use_buffers);
        let mean = |m: &dyn Module| {
            m.named_buffers().into_iter().find(|(n, _)| n.ends_with("running_mean")).unwrap().1
        };
        for n in [2.0, 4.0] {
            mg_nn::init::constant_(&mean(&model), n).unwrap();
            average.update_parameters(&model).unwrap();
        }
        assert_eq!(vec(&mean(&average)), [wanted]);
    }
    assert!(AveragedModel::new(&make(), make(), Averaging::Ema(1.5)).is_err());
    assert!(AveragedModel::new(&make(), Linear::new(2, 1).unwrap(), Averaging::Mean).is_err());
}

fn rates(schedule: impl Schedule, n: usize) -> Vec<f64> {
    let mut sgd = SGD::new(vec![leaf(&[0.0])], 0.1).unwrap();
    let mut scheduler = Scheduler::new(&mut sgd, schedule).unwrap();
    let next = |_| {
        let lr = sgd.lr();
        scheduler.step(&mut sgd).unwrap();
        lr
    };
    (0..n).map(next).collect()
}

/// The rates of PyTorch 2.15.
#[test]
fn schedules_of_averages_and_chains_are_pytorchs() {
    let near = |got: Vec<f64>, want: &[f64]| {
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-12), "got {got:?}, want {want:?}");
    };
    near(rates(SWALR::new(0.05, 4, Anneal::Linear).unwrap(), 6), &[0.1, 0.0875, 0.075, 0.0625, 0.05, 0.05]);
    let cos = [0.1, 0.092_677_669_529_663_69, 0.075, 0.057_322_330_470_336_31, 0.05, 0.05];
    near(rates(SWALR::new(0.05, 4, Anneal::Cos).unwrap(), 6), &cos);
    near(rates(SWALR::new(0.05, 0, Anneal::Cos).unwrap(), 2), &[0.05, 0.05]);
    for (epoch, wanted) in cos.iter().enumerate() {
        near(vec![SWALR::new(0.05, 4, Anneal::Cos).unwrap().lr(0.1, epoch as u64)], &[*wanted]);
    }
    let chain = || {
        let warm = ConstantLR::new(0.1, 2).unwrap();
        ChainedScheduler::new(vec![Box::new(warm), Box::new(ExponentialLR::new(0.9).unwrap())]).unwrap()
    };
    let wanted = [0.01, 0.009, 0.081, 0.0729, 0.06561];
    near(rates(chain(), 5), &wanted);
    near((0..5).map(|epoch| chain().lr(0.1, epoch)).collect(), &wanted);
    let steps = ChainedScheduler::new(vec![Box::new(StepLR::new(2, 0.5).unwrap())]).unwrap();
    near(rates(steps, 5), &[0.1, 0.1, 0.05, 0.05, 0.025]);
    assert!(ChainedScheduler::new(vec![]).is_err() && SWALR::new(-1.0, 1, Anneal::Cos).is_err());
}

#[test]
fn samplers_draw_what_they_say() {
    assert_eq!(SequentialSampler(3).order(7), [0, 1, 2]);
    let random = RandomSampler::new(20, 3).unwrap();
    let sorted = |mut order: Vec<usize>| {
        order.sort_unstable();
        order
    };
    assert_eq!(random.order(4), random.order(4));
    assert_ne!(random.order(4), random.order(5));
    assert_eq!(sorted(random.order(4)), (0..20).collect::<Vec<_>>());
    let twice = RandomSampler { num_samples: 40, ..random };
    assert_eq!(sorted(twice.order(0)), (0..40).map(|i| i / 2).collect::<Vec<_>>());
    let some = RandomSampler { num_samples: 5, ..random }.order(0);
    assert!(some.len() == 5 && sorted(some).windows(2).all(|w| w[0] < w[1]));
    let drawn = RandomSampler { replacement: true, num_samples: 2000, ..random }.order(0);
    assert!((0..20).all(|i| (50..160).contains(&drawn.iter().filter(|&&j| j == i).count())));
    let subset = SubsetRandomSampler { indices: vec![7, 3, 5], seed: 1 };
    assert_eq!(sorted(subset.order(0)), [3, 5, 7]);

    let weights = [0.0, 1.0, 3.0, 0.0];
    let weighted = WeightedRandomSampler::new(&weights, 4000, true, 1).unwrap().order(0);
    let ones = weighted.iter().filter(|&&i| i == 1).count();
    assert!(weighted.iter().all(|&i| i == 1 || i == 2) && (850..1150).contains(&ones), "{ones}");
    // So it is where their sum is beyond what there is.
    let weighted = WeightedRandomSampler::new(&[1e308, 1e308, 0.0], 4000, true, 1).unwrap().order(0);
    let ones = weighted.iter().filter(|&&i| i == 1).count();
    assert!(weighted.iter().all(|&i| i < 2) && (1800..2200).contains(&ones), "{ones}");
    // Without replacement, the first is drawn by the weights as well.
    let first = |seed| WeightedRandomSampler::new(&weights, 2, false, seed).unwrap().order(0);
    assert!((0..2000).map(first).all(|order| sorted(order) == [1, 2]));
    let ones = (0..4000).filter(|&seed| first(seed)[0] == 1).count();
    assert!((850..1150).contains(&ones), "{ones}");
    for bad in [
        WeightedRandomSampler::new(&[-1.0, 1.0], 1, true, 0),
        WeightedRandomSampler::new(&[f64::NAN], 1, true, 0),
        WeightedRandomSampler::new(&[0.0], 1, true, 0),
        WeightedRandomSampler::new(&weights, 3, false, 0),
        WeightedRandomSampler::new(&weights, 0, true, 0),
    ] {
        assert!(matches!(bad.unwrap_err().kind(), ErrorKind::Value(_)));
    }
    let lists = BatchSampler::new(SequentialSampler(5), 2, true).unwrap();
    assert_eq!((lists.len(), lists.batches(0)), (2, vec![vec![0, 1], vec![2, 3]]));
    assert!(BatchSampler::new(SequentialSampler(5), 0, true).is_err() && RandomSampler::new(0, 1).is_err());
}

#[test]
fn loaders_take_samplers() {
    let data = || TensorDataset::new([Tensor::arange(10)]).unwrap();
    let options = LoaderOptions { batch_size: 2, num_workers: 2, ..LoaderOptions::default() };
    let sampler = RandomSampler { num_samples: 7, ..RandomSampler::new(10, 5).unwrap() };
    let loader = DataLoader::with_sampler(data(), sampler, options).unwrap();
    assert_eq!(loader.len(), 4);
    for epoch in 0..2 {
        let all: Vec<i64> =
            loader.iter().flat_map(|batch| batch.unwrap()[0].to_vec::<i64>().unwrap()).collect();
        assert!(all.iter().map(|&i| i as usize).eq(sampler.order(epoch)));
    }
    // What the data set does not have is an error of its batch alone.
    let beyond = SubsetRandomSampler { indices: vec![3, 12], seed: 0 };
    let loader = DataLoader::with_sampler(data(), beyond, LoaderOptions::default()).unwrap();
    let batches: Vec<_> = loader.iter().collect();
    assert_eq!(batches.iter().filter(|batch| batch.is_err()).count(), 1);
    let shuffled = LoaderOptions { shuffle: Some(1), ..options };
    assert!(DataLoader::with_sampler(data(), sampler, shuffled).is_err());
}

struct Lines(Vec<Option<i64>>);

impl IterableDataset for Lines {
    type Sample = i64;
    fn iter(&self) -> Box<dyn Iterator<Item = Result<i64>> + Send + '_> {
        let wrong = || mg_device::Error::new("Lines", ErrorKind::Value("a bad line".into()));
        Box::new(self.0.iter().map(move |line| line.ok_or_else(wrong)))
    }
}

#[test]
fn streams_make_batches() {
    let numbers = |drop_last| {
        let lines = Lines((0..5).map(Some).collect());
        let loader = IterableLoader::new(lines, 2, drop_last).unwrap();
        let epoch = || loader.iter().map(|b| b.unwrap().to_vec::<i64>().unwrap()).collect::<Vec<_>>();
        assert_eq!(epoch(), epoch());
        epoch()
    };
    assert_eq!(numbers(false), [vec![0, 1], vec![2, 3], vec![4]]);
    assert_eq!(numbers(true), [vec![0, 1], vec![2, 3]]);
    let loader = IterableLoader::new(Lines(vec![Some(1), None, Some(2)]), 2, false).unwrap();
    let batches: Vec<Option<Vec<i64>>> =
        loader.iter().map(|batch| batch.ok().map(|b| b.to_vec::<i64>().unwrap())).collect();
    assert_eq!(batches, [None, Some(vec![2])]);
    assert!(IterableLoader::new(Lines(vec![]), 0, false).is_err());
}

#[test]
fn the_last_good_checkpoint_is_kept() {
    let path = std::env::temp_dir().join(format!("kept-{}.safetensors", std::process::id()));
    let w = leaf(&[1.0]);
    let state = || State { tensors: [("w".to_string(), w.snapshot())].into(), ..State::default() };
    let mut checkpointer = Checkpointer::new(&path, 2).unwrap();
    assert!(checkpointer.load().unwrap().is_none());
    let loss = |x: f32| Tensor::scalar(x);
    let e =
        checkpointer.step(&loss(1.0), state).and_then(|()| checkpointer.step(&loss(f32::INFINITY), state));
    let e = e.unwrap_err().to_string();
    assert!(e.contains("the loss of step 2 is inf; nothing was saved"), "{e}");
    assert!(!path.exists());
    for _ in 0..2 {
        checkpointer.step(&loss(0.5), state).unwrap();
    }
    // A loss is as good as it is, and what is saved is not.
    mg_nn::init::constant_(&w, f64::NAN).unwrap();
    checkpointer.step(&loss(0.5), state).unwrap();
    let e = checkpointer.step(&loss(0.5), state).unwrap_err().to_string();
    assert!(e.contains("after step 6 there is NaN in w; the last good checkpoint is that of step 4"), "{e}");
    let mut other = Checkpointer::new(&path, 2).unwrap();
    assert_eq!(vec(&other.load().unwrap().unwrap().tensors["w"]), [1.0]);
    assert_eq!(other.steps(), 4);
    // The step is that of the loss, however late it is looked at.
    let mut late = Checkpointer::new(&path, 100).unwrap();
    for x in [1.0, f32::NAN, f32::NAN] {
        late.step(&loss(x), state).unwrap();
    }
    assert!(late.check().unwrap_err().to_string().contains("the loss of step 2 is NaN"));
    assert!(
        late.step(&Tensor::from_slice(&[1.0f32, 2.0]), state).is_err()
            && Checkpointer::new(&path, 0).is_err()
    );
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_checkpoint_keeps_where_random_numbers_were() {
    mg_autograd::draw_from(Some(mg_autograd::Generator::new()));
    mg_autograd::manual_seed(5);
    let path = std::env::temp_dir().join(format!("drawn-{}.safetensors", std::process::id()));
    let drawn = || Tensor::rand(&[3], DType::F32).unwrap().to_vec::<f32>().unwrap();
    drawn();
    Checkpointer::new(&path, 1).unwrap().save(State::default()).unwrap();
    let next = drawn();
    mg_autograd::manual_seed(6);
    Checkpointer::new(&path, 1).unwrap().load().unwrap();
    assert_eq!(drawn(), next);
    // A file that does not say where they were is none of a run that goes on.
    State { metadata: [("step".to_string(), "1".to_string())].into(), ..State::default() }
        .save(&path)
        .unwrap();
    let mistake = Checkpointer::new(&path, 1).unwrap().load().err().unwrap().to_string();
    assert!(mistake.contains("where its random numbers were"), "{mistake}");
    std::fs::remove_file(&path).unwrap();
}
