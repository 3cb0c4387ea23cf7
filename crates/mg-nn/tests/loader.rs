//! Readers of CSV and images, data sets, and the loader that makes batches of them on threads.

mod directory;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mg_autograd::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Result};
use mg_nn::data::{
    ConcatDataset, CsvOptions, DataLoader, Dataset, LoaderOptions, MapDataset, Subset, Table, TensorDataset,
    random_split,
};
use proptest::prelude::*;

use directory::Dir;

fn table(text: &str) -> Table {
    Table::parse("a.csv", text.as_bytes(), CsvOptions::default()).unwrap()
}

/// What is said of a text that is no table.
fn refused(text: &[u8]) -> String {
    let e = Table::parse("a.csv", text, CsvOptions::default()).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Format(_)), "{e}");
    assert!(e.location().file().ends_with("tests/loader.rs"), "{e}");
    e.kind().to_string()
}

#[test]
fn csv_is_read_as_rfc_4180_has_it() {
    let text = "\u{feff}name,say,n\r\n\"Li, Ann\",\"she said \"\"no\"\"\",1\r\n\n\"two\nlines\",,2\nplain,5\" pipe, 3 ";
    let table = table(text);
    assert_eq!((table.columns(), table.len()), (&["name", "say", "n"].map(String::from)[..], 3));
    assert_eq!(table.strings("name").unwrap(), ["Li, Ann", "two\nlines", "plain"]);
    assert_eq!(table.strings("say").unwrap(), ["she said \"no\"", "", "5\" pipe"]);
    let n = table.numbers(&["n"], DType::I64, None).unwrap();
    assert_eq!((&n.shape()[..], n.to_vec::<i64>().unwrap()), (&[3, 1][..], vec![1, 2, 3]));

    let options = CsvOptions { delimiter: ';', header: false };
    let table = Table::parse("b", b"1;2\n3;-4e1\n", options).unwrap();
    assert_eq!(table.columns(), ["0", "1"]);
    let all = table.numbers(&[], DType::F64, None).unwrap();
    assert_eq!((&all.shape()[..], all.to_vec::<f64>().unwrap()), (&[2, 2][..], vec![1.0, 2.0, 3.0, -40.0]));
    // A table without rows has its columns still.
    let none = Table::parse("b", b"x,y\n", CsvOptions::default()).unwrap();
    assert_eq!(*none.numbers(&[], DType::F32, None).unwrap().shape(), [0, 2]);
}

#[test]
fn errors_of_csv_name_the_file_and_the_line() {
    for (text, says) in [
        (&b"x,y\n1,2\n3\n"[..], "a.csv:3: 1 fields, where 2 columns are"),
        (b"x,y\n\"1\n\n\",2\n3,4,5\n", "a.csv:5: 3 fields, where 2 columns are"),
        (b"x,y\n1,2\n3,\"4\n5,6\n", "a.csv:3: a row with a quote that is not closed"),
        (b"x,y\n\"1\"2,3\n", "a.csv:2: more behind a quoted field than what parts fields"),
        (b"x,y\n1,\xff\n", "a.csv:2: text that is no UTF-8"),
        (b"\n\n", "a.csv:1: no row, where one should have the columns' names"),
        (b"x,y,x\n", "a.csv:1: column 2 is called \"x\", as one before it"),
    ] {
        assert_eq!(refused(text), says);
    }
    let says = |text: &str, dtype: DType| table(text).numbers(&[], dtype, None).map(drop).unwrap_err();
    let e = says("x,y\n1,2\n3,three\n", DType::F32);
    assert_eq!(e.kind().to_string(), "a.csv:3: column \"y\" is \"three\", not a number");
    let e = says("x\n1.5\n", DType::I64);
    assert_eq!(
        e.kind().to_string(),
        "a.csv:2: column \"x\" is \"1.5\", not an integer that an i64 has room for"
    );
    let e = says("x,y\n1,2\n\n,3\n", DType::F32);
    assert_eq!(
        e.kind().to_string(),
        "a.csv:4: column \"x\" is empty, and nothing stands for what is missing"
    );
    let filled = table("x,y\n1,\n,2\n").numbers(&[], DType::F32, Some(-1.0)).unwrap();
    assert_eq!(filled.to_vec::<f32>().unwrap(), [1.0, -1.0, -1.0, 2.0]);
    assert!(matches!(says("x\n1\n", DType::U8).kind(), ErrorKind::DType(_)));
    let e = table("x\n1\n").numbers(&[], DType::I64, Some(f64::NAN)).map(drop).unwrap_err();
    assert!(
        e.to_string().starts_with("numbers: takes an integer for what is missing of integers, got NaN"),
        "{e}"
    );
    let e = table("x,y\n1,2\n").labels("z").map(drop).unwrap_err();
    assert!(e.to_string().starts_with("labels: a.csv has no column \"z\": it has x, y ("), "{e}");
    let e = Table::read("/nowhere/a.csv", CsvOptions::default()).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Io(_)) && e.to_string().contains("/nowhere/a.csv"), "{e}");
    let options = CsvOptions { delimiter: '"', header: true };
    assert!(matches!(Table::parse("a", b"", options).unwrap_err().kind(), ErrorKind::Value(_)));
}

/// A field as a file has it.
fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

proptest! {
    #[test]
    fn any_table_that_is_written_is_read(rows in prop::collection::vec(prop::collection::vec(".*", 3), 0..6)) {
        let mut text = String::from("a,b,c\n");
        for row in &rows {
            text += &(row.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\r\n");
        }
        let table = table(&text);
        prop_assert_eq!(table.len(), rows.len());
        for (i, column) in ["a", "b", "c"].into_iter().enumerate() {
            let want: Vec<&str> = rows.iter().map(|row| row[i].as_str()).collect();
            prop_assert_eq!(table.strings(column).unwrap(), want);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(bytes in prop::collection::vec(prop::sample::select(b"a1,\"\n\r \xff".to_vec()), 0..40)) {
        for header in [false, true] {
            if let Ok(table) = Table::parse("x", &bytes, CsvOptions { delimiter: ',', header }) {
                let _ = table.numbers(&[], DType::F32, None);
            }
        }
    }
}

/// Numbers with their squares; asked for 13, it fails, and for 17, it panics.
struct Squares {
    n: usize,
    asked: Arc<AtomicUsize>,
    slow: Option<Duration>,
}

impl Squares {
    fn new(n: usize) -> Squares {
        Squares { n, asked: Arc::default(), slow: None }
    }
}

impl Dataset for Squares {
    type Sample = (Tensor, i64);
    fn len(&self) -> usize {
        self.n
    }
    fn get(&self, index: usize) -> Result<(Tensor, i64)> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(time) = self.slow {
            // Later ones are done first.
            std::thread::sleep(time / (index as u32 + 1));
        }
        match index {
            13 => Err(Error::new("get", ErrorKind::Value("unlucky".into()))),
            17 => panic!("seventeen"),
            _ => Ok((Tensor::from_slice(&[index as f32]), (index * index) as i64)),
        }
    }
}

fn options(batch_size: usize, shuffle: Option<u64>, num_workers: usize) -> LoaderOptions {
    LoaderOptions { batch_size, shuffle, num_workers, ..LoaderOptions::default() }
}

/// The numbers of an epoch's batches.
fn numbers(loader: &DataLoader<Squares>) -> Vec<Vec<f32>> {
    let numbers = loader.iter().map(|batch| {
        let (x, y) = batch.unwrap();
        let (x, y) = (x.reshape(&[-1]).unwrap().to_vec::<f32>().unwrap(), y.to_vec::<i64>().unwrap());
        assert!(x.iter().zip(&y).all(|(x, &y)| x * x == y as f32));
        x
    });
    numbers.collect()
}

#[test]
fn batches_do_not_depend_on_the_number_of_threads() {
    for shuffle in [None, Some(5)] {
        let plain = DataLoader::new(Squares::new(11), options(4, shuffle, 0)).unwrap();
        let epochs = [numbers(&plain), numbers(&plain)];
        assert_eq!(epochs[0].iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 3]);
        assert_eq!(epochs[0] == epochs[1], shuffle.is_none());
        for workers in [1, 3, 20] {
            let slow = Squares { slow: Some(Duration::from_millis(20)), ..Squares::new(11) };
            let loader = DataLoader::new(slow, options(4, shuffle, workers)).unwrap();
            assert_eq!([numbers(&loader), numbers(&loader)], epochs, "{workers} workers");
        }
    }
    let dropped = LoaderOptions { drop_last: true, ..options(4, None, 2) };
    let loader = DataLoader::new(Squares::new(11), dropped).unwrap();
    assert_eq!((loader.len(), numbers(&loader).len()), (2, 2));
    assert_eq!(numbers(&DataLoader::new(Squares::new(0), options(4, Some(1), 2)).unwrap()).len(), 0);
}

#[test]
fn batches_are_pinned_where_they_are_made() {
    let plain = DataLoader::new(Squares::new(11), options(4, None, 0)).unwrap();
    let pinned = LoaderOptions { pin_memory: true, ..options(4, None, 2) };
    let pinned = DataLoader::new(Squares::new(11), pinned).unwrap();
    assert_eq!(numbers(&plain), numbers(&pinned));
    for batch in &pinned {
        let (x, y) = batch.unwrap();
        // What lies on a device, as these do where that is the default, is there already.
        let pins = Device::is_cuda_available() && x.device().is_cpu();
        assert_eq!(
            (x.is_pinned(), y.is_pinned()),
            (pins, Device::is_cuda_available() && y.device().is_cpu())
        );
    }
}

#[test]
fn no_more_is_made_ahead_than_was_asked_for() {
    let dataset = Squares::new(12);
    let asked = dataset.asked.clone();
    let loader =
        DataLoader::new(dataset, LoaderOptions { prefetch_factor: 2, ..options(1, None, 2) }).unwrap();
    let mut batches = loader.iter();
    batches.next().unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    // The one that was given, and two for each of two threads.
    assert_eq!(asked.load(Ordering::SeqCst), 5);
    drop(batches);
    assert_eq!(asked.load(Ordering::SeqCst), 5);
}

#[test]
fn a_failing_sample_is_told_by_its_number_and_the_loop_goes_on() {
    for workers in [0, 2] {
        let loader = DataLoader::new(Squares::new(15), options(5, None, workers)).unwrap();
        let made: Vec<_> = loader.iter().collect();
        assert!(made[0].is_ok() && made[1].is_ok());
        let text = made[2].as_ref().map(drop).unwrap_err().to_string();
        assert!(
            text.starts_with("item 13 of the data set: get: unlucky (") && text.contains("loader.rs"),
            "{text}"
        );

        let loader = DataLoader::new(
            Subset::new(Squares::new(20), vec![1, 17, 2]).unwrap(),
            options(1, None, workers),
        );
        let loader = loader.unwrap();
        let mut batches = loader.iter();
        assert!(batches.next().unwrap().is_ok());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| batches.next().map(drop)));
        assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"seventeen"));
        assert!(batches.next().unwrap().is_ok() && batches.next().is_none());
    }
}

#[test]
fn an_epoch_is_resumed_in_its_middle() {
    for workers in [0, 3] {
        let make = || DataLoader::new(Squares::new(11), options(2, Some(3), workers)).unwrap();
        let whole = make();
        let epochs = [numbers(&whole), numbers(&whole), numbers(&whole)];

        let loader = make();
        numbers(&loader);
        let mut batches = loader.iter();
        batches.next();
        batches.next();
        let state = loader.state();
        drop(batches);
        let asked = Squares::new(11);
        let count = asked.asked.clone();
        let other = DataLoader::new(asked, options(2, Some(3), workers)).unwrap();
        other.load_state(&state).unwrap();
        assert_eq!(other.state().metadata, state.metadata);
        assert_eq!(numbers(&other), epochs[1][2..]);
        assert_eq!(count.load(Ordering::SeqCst), 7, "what was given is not made again");
        assert_eq!(numbers(&other), epochs[2]);

        // One that was left is over; one at its end, too.
        assert_eq!(numbers(&loader), epochs[2]);
        let other = make();
        numbers(&other);
        let last = make();
        last.load_state(&other.state()).unwrap();
        assert_eq!(numbers(&last), epochs[1]);
    }
    let loader = DataLoader::new(Squares::new(11), options(2, Some(3), 0)).unwrap();
    loader.iter().next();
    let state = loader.state();
    for (samples, shuffle, says) in
        [(12, Some(3), "of 11 samples"), (11, Some(4), "shuffled by 3"), (11, None, "not shuffled")]
    {
        let other = DataLoader::new(Squares::new(samples), options(2, shuffle, 0)).unwrap();
        let e = other.load_state(&state).unwrap_err();
        assert!(e.to_string().contains(says), "{e}");
        assert_eq!(other.state().metadata["batches"], "0");
    }
    let mut less = state.clone();
    less.metadata.remove("epoch");
    assert!(loader.load_state(&less).unwrap_err().to_string().contains("has epoch too"));
}

#[test]
fn data_sets_are_made_of_others() {
    let numbers = |n: usize| TensorDataset::new([Tensor::arange(n)]).unwrap();
    let first = |[t]: [Tensor; 1]| t.item::<i64>().unwrap();
    let both = ConcatDataset::new(vec![numbers(3), numbers(2)]);
    assert_eq!((0..both.len()).map(|i| first(both.get(i).unwrap())).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
    let doubled = MapDataset::new(numbers(4), |[t]: [Tensor; 1]| Ok((t.try_mul(2)?, "text".to_string())));
    let (x, texts) = doubled.batch(&[3, 1]).unwrap();
    assert_eq!((x.to_vec::<i64>().unwrap(), texts), (vec![6, 2], vec!["text".to_string(); 2]));
    let parts = random_split(numbers(10), [7, 3], 4).unwrap();
    let mut all: Vec<usize> = parts.iter().flat_map(|part| part.indices().to_vec()).collect();
    let again = random_split(numbers(10), [7, 3], 4).unwrap();
    assert_eq!(parts[1].indices(), again[1].indices());
    assert_ne!(all, (0..10).collect::<Vec<_>>());
    all.sort_unstable();
    assert_eq!(all, (0..10).collect::<Vec<_>>());
    let [rows] = parts[0].batch(&[0, 6]).unwrap();
    assert_eq!(rows.to_vec::<i64>().unwrap(), [parts[0].indices()[0] as i64, parts[0].indices()[6] as i64]);

    assert!(
        random_split(numbers(10), [7, 4], 4).map(drop).unwrap_err().to_string().contains("10, got [7, 4]")
    );
    assert!(matches!(
        Subset::new(numbers(2), vec![2]).map(drop).unwrap_err().kind(),
        ErrorKind::Index { .. }
    ));
    assert!(TensorDataset::new([Tensor::arange(2), Tensor::arange(3)]).is_err());
    assert!(TensorDataset::new([Tensor::scalar(1.0f32)]).is_err());
    let ragged = MapDataset::new(numbers(3), |[t]: [Tensor; 1]| {
        Tensor::arange(t.item::<i64>()? as usize + 1).reshape(&[-1])
    });
    let e = ragged.batch(&[0, 1]).map(drop).unwrap_err();
    assert!(e.to_string().starts_with("collate: "), "{e}");
    let e = DataLoader::new(Squares::new(3), options(0, None, 0)).map(drop).unwrap_err();
    assert!(e.to_string().starts_with("DataLoader: ") && e.location().file().ends_with("loader.rs"), "{e}");
}

#[cfg(feature = "images")]
mod images {
    use super::*;
    use mg_nn::data::{ImageFolder, ImageMode, decode_image, read_image};

    fn png(colour: png::ColorType, size: [u32; 2], bytes: &[u8]) -> Vec<u8> {
        let mut file = vec![];
        let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
        encoder.set_color(colour);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        file
    }

    fn read(bytes: &[u8], mode: ImageMode) -> (Vec<usize>, Vec<u8>) {
        let image = decode_image("a.png", bytes, mode).unwrap();
        (image.shape().to_vec(), image.to_vec().unwrap())
    }

    #[test]
    fn channels_are_planes() {
        let rgb = png(png::ColorType::Rgb, [2, 1], &[10, 20, 30, 40, 50, 60]);
        for mode in [ImageMode::Unchanged, ImageMode::Rgb] {
            assert_eq!(read(&rgb, mode), (vec![3, 1, 2], vec![10, 40, 20, 50, 30, 60]));
        }
        // 0.299 · 10 + 0.587 · 20 + 0.114 · 30 = 18.15
        assert_eq!(read(&rgb, ImageMode::Gray), (vec![1, 1, 2], vec![18, 48]));
        assert_eq!(read(&rgb, ImageMode::Rgba).1[6..], [255, 255]);
        let gray = png(png::ColorType::Grayscale, [1, 2], &[7, 9]);
        assert_eq!(read(&gray, ImageMode::Unchanged), (vec![1, 2, 1], vec![7, 9]));
        assert_eq!(read(&gray, ImageMode::Rgb), (vec![3, 2, 1], vec![7, 9, 7, 9, 7, 9]));
        let covered = png(png::ColorType::GrayscaleAlpha, [1, 1], &[7, 100]);
        assert_eq!(read(&covered, ImageMode::Unchanged), (vec![2, 1, 1], vec![7, 100]));
        assert_eq!(read(&covered, ImageMode::Rgba), (vec![4, 1, 1], vec![7, 7, 7, 100]));
        assert_eq!(read(&covered, ImageMode::Gray), (vec![1, 1, 1], vec![7]));
    }

    /// A gray square of 8×8 as a JPEG: one block whose only coefficient is 0, so that every pixel is 128.
    const GRAY: &[u8] = include_bytes!("gray.jpg");

    #[test]
    fn jpegs_are_read() {
        assert_eq!(read(GRAY, ImageMode::Unchanged), (vec![1, 8, 8], vec![128; 64]));
        assert_eq!(read(GRAY, ImageMode::Rgb), (vec![3, 8, 8], vec![128; 192]));
    }

    #[test]
    fn what_is_no_image_is_refused_by_name() {
        let good = png(png::ColorType::Rgb, [4, 4], &[5; 48]);
        let mut wrong = good.clone();
        let middle = wrong.len() / 2;
        wrong[middle] ^= 0x55;
        // A file that says it is 40,000 by 40,000 is not given the memory for it.
        let mut huge = good.clone();
        huge[16..24].copy_from_slice(&[0, 0, 0x9c, 0x40, 0, 0, 0x9c, 0x40]);
        for (bytes, says) in [
            (&b""[..], "neither a PNG nor a JPEG file"),
            (b"GIF89a", "neither a PNG nor a JPEG file"),
            (&good[..good.len() / 2], "a damaged PNG"),
            (&wrong, "a damaged PNG"),
            (&huge, "a damaged PNG"),
            (&GRAY[..40], "a damaged JPEG"),
        ] {
            let e = decode_image("x/a.png", bytes, ImageMode::Rgb).map(drop).unwrap_err();
            assert!(matches!(e.kind(), ErrorKind::Format(_)), "{e}");
            assert!(e.to_string().starts_with(&format!("decode_image: x/a.png: {says}")), "{e}");
            assert!(e.location().file().ends_with("loader.rs"), "{e}");
        }
        let e = read_image("/nowhere.png", ImageMode::Rgb).map(drop).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Io(_)) && e.to_string().contains("/nowhere.png"), "{e}");
    }

    #[test]
    fn folders_are_classes() {
        let dir = Dir::new("folders");
        for (name, value) in [("dog/b.png", 1), ("cat/2.PNG", 2), ("cat/deep/1.png", 3), ("dog/a.png", 4)] {
            dir.file(name, &png(png::ColorType::Grayscale, [2, 2], &[value; 4]));
        }
        dir.file("cat/notes.txt", b"no image");
        dir.file("readme.png", b"in no class");
        let folder = ImageFolder::new(&dir.0).unwrap();
        assert_eq!(folder.classes(), ["cat", "dog"]);
        let loader = DataLoader::new(folder.clone().mode(ImageMode::Gray), options(3, None, 2)).unwrap();
        let mut seen = vec![];
        for batch in &loader {
            let (images, classes) = batch.unwrap();
            assert_eq!(images.shape()[1..], [1, 2, 2]);
            let first = images.reshape(&[-1, 4]).unwrap().to_vec::<u8>().unwrap();
            seen.extend(first.chunks(4).map(|image| image[0]).zip(classes.to_vec::<i64>().unwrap()));
        }
        assert_eq!(seen, [(2, 0), (3, 0), (4, 1), (1, 1)]);
        assert_eq!(*folder.get(0).unwrap().0.shape(), [3, 2, 2]);

        let bad = dir.file("dog/c.png", b"\x89PNG\r\n\x1a\nno");
        let loader = DataLoader::new(ImageFolder::new(&dir.0).unwrap(), options(5, None, 2)).unwrap();
        let e = loader.iter().next().unwrap().map(drop).unwrap_err().to_string();
        let want = format!("item 4 of the data set: read_image: {}: a damaged PNG: ", bad.display());
        assert!(e.starts_with(&want), "{e}");
        fs::create_dir(dir.0.join("emu")).unwrap();
        let e = ImageFolder::new(&dir.0).unwrap_err().to_string();
        assert!(e.contains("emu has no image"), "{e}");
        assert!(matches!(ImageFolder::new(dir.0.join("emu")).unwrap_err().kind(), ErrorKind::Value(_)));
        assert!(matches!(ImageFolder::new(dir.0.join("none")).unwrap_err().kind(), ErrorKind::Io(_)));
    }
}
