//! A table of text; the first byte says how it is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mg_device::DType;
use mg_fuzz::usual;
use mg_nn::data::{CsvOptions, Table};

fuzz_target!(|data: &[u8]| {
    let Some((&how, text)) = data.split_first() else { return };
    let delimiter = *[',', ';', '\t', ' ', '"', 'é', '\0', 'x'].get(usize::from(how & 7)).expect("eight of them");
    let options = CsvOptions { delimiter, header: how & 8 == 0 };
    let Some(table) = usual(Table::parse("data", text, options)) else { return };
    for column in table.columns() {
        let texts = usual(table.strings(column)).expect("a column that is there");
        assert_eq!(texts.len(), table.len());
        let (labels, classes) = usual(table.labels(column)).expect("any texts are classes");
        let labels = labels.to_vec::<i64>().expect("labels");
        assert!(labels.iter().zip(&texts).all(|(&label, text)| classes[label as usize] == *text));
        for dtype in [DType::F64, DType::F32, DType::I64, DType::U8] {
            usual(table.numbers(&[column], dtype, None));
            usual(table.numbers(&[column], dtype, Some(0.5)));
        }
    }
    usual(table.numbers(&[], DType::F64, Some(0.0)));
});
