//! Tables of text: CSV, as RFC 4180 has it.
//!
//! Fields are parted by commas and rows by line ends (`\n` or `\r\n`); a field in double quotes may have either in it, and a quote as
//! two. Empty lines are no rows. A quote inside a field that does not begin with one is itself.

use std::collections::BTreeMap;
use std::path::Path;

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Float, Result};

use super::read::{Read, contents, told};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// What parts the fields of a row: a comma.
    pub delimiter: char,
    /// Whether the first row has the columns' names: it has. Without names, columns are called `0`, `1`, ….
    pub header: bool,
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions { delimiter: ',', header: true }
    }
}

/// What a CSV file has, as text, to be taken as numbers, as classes or as it is.
///
/// ```
/// use mg_nn::data::{CsvOptions, Table};
/// use mg_device::DType;
///
/// let text = "length,width,kind\n1.5,0.5,setosa\n4.5,1.5,versicolor\n";
/// let table = Table::parse("irises.csv", text.as_bytes(), CsvOptions::default())?;
/// let x = table.numbers(&["length", "width"], DType::F32, None)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.5, 0.5, 4.5, 1.5]);
/// let (y, classes) = table.labels("kind")?;
/// assert_eq!((y.to_vec::<i64>()?, classes), (vec![0, 1], vec!["setosa".to_string(), "versicolor".to_string()]));
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    file: String,
    columns: Vec<String>,
    /// All fields, one behind the other, without quotes.
    text: String,
    /// Where each field ends, row by row.
    ends: Vec<usize>,
    /// The line of the file in which each row begins.
    lines: Vec<usize>,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] where the file cannot be read. [`ErrorKind::Format`], which names the file and the line, where a row has more
    /// or fewer fields than the first, a quote is not closed or followed by more, the text is no UTF-8, or there is no row with names.
    /// [`ErrorKind::Value`] for a delimiter that is a quote, a line's end or no ASCII character.
    #[track_caller]
    pub fn read(path: impl AsRef<Path>, options: CsvOptions) -> Result<Table> {
        let read = contents(path.as_ref()).and_then(|(file, bytes)| parsed(file, &bytes, options));
        told("read_csv", read)
    }

    /// Reads CSV from memory; `file` stands for the file's name in errors.
    ///
    /// # Errors
    ///
    /// As [`Table::read`].
    #[track_caller]
    pub fn parse(file: &str, bytes: &[u8], options: CsvOptions) -> Result<Table> {
        told("read_csv", parsed(file.to_string(), bytes, options))
    }

    /// The columns' names, in order.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows, without that of the names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The texts of a column.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a column that is not there.
    #[track_caller]
    pub fn strings(&self, column: &str) -> Result<Vec<&str>> {
        match self.place(column) {
            Ok(place) => Ok((0..self.len()).map(|row| self.field(row, place)).collect()),
            Err(kind) => Err(Error::new("strings", kind)),
        }
    }

    /// Columns as numbers, `[rows, columns]`, on the default device; none named are all of them. Spaces around a number do not
    /// count, and an empty field is `missing`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Format`], which names file, line and column, for what is no number, and for an empty field where nothing stands
    /// for it. [`ErrorKind::Value`] for a column that is not there, and for a `missing` that is no integer where integers are asked for. [`ErrorKind::DType`] for a dtype that is neither floating point nor i64.
    #[track_caller]
    pub fn numbers(&self, columns: &[&str], dtype: DType, missing: Option<f64>) -> Result<Tensor> {
        let made = || {
            let places: Vec<usize> = match columns {
                [] => (0..self.columns.len()).collect(),
                _ => columns.iter().map(|column| self.place(column)).collect::<Read<_>>()?,
            };
            let shape = [self.len(), places.len()];
            let tensor = match dtype.float() {
                Some(Float::F64) => Tensor::from_vec(self.parsed::<f64>(&places, missing)?, &shape),
                Some(Float::F32 | Float::F16 | Float::BF16) => {
                    let missing = missing.map(|x| x as f32);
                    Tensor::from_vec(self.parsed::<f32>(&places, missing)?, &shape).map(|t| t.to_dtype(dtype))
                }
                None if dtype == DType::I64 => {
                    let whole = |x: f64| x.trunc() == x && x.abs() <= (1u64 << 53) as f64;
                    if let Some(x) = missing.filter(|&x| !whole(x)) {
                        let text = format!("takes an integer for what is missing of integers, got {x}");
                        return Err(ErrorKind::Value(text));
                    }
                    let missing = missing.map(|x| x as i64);
                    Tensor::from_vec(self.parsed::<i64>(&places, missing)?, &shape)
                }
                None => {
                    let text =
                        format!("takes a floating-point dtype or i64, got {dtype}: convert what it answers");
                    return Err(ErrorKind::DType(text));
                }
            };
            tensor.map_err(|e| e.kind().clone())
        };
        told("numbers", made())
    }

    /// A column as classes: the number of each row's text among the texts that there are, i64 `[rows]`, and these in their order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a column that is not there.
    #[track_caller]
    pub fn labels(&self, column: &str) -> Result<(Tensor, Vec<String>)> {
        let texts = self.strings(column).map_err(|e| e.with_op("labels"))?;
        let mut numbers: BTreeMap<&str, i64> = texts.iter().map(|text| (*text, 0)).collect();
        numbers.values_mut().zip(0..).for_each(|(number, i)| *number = i);
        let labels = texts.iter().map(|text| numbers[text]).collect();
        let classes = numbers.into_keys().map(str::to_string).collect();
        Ok((Tensor::from_vec(labels, &[texts.len()])?, classes))
    }

    fn place(&self, column: &str) -> Read<usize> {
        self.columns.iter().position(|name| name == column).ok_or_else(|| {
            let known = self.columns.join(", ");
            ErrorKind::Value(format!("{} has no column {column:?}: it has {known}", self.file))
        })
    }

    fn field(&self, row: usize, column: usize) -> &str {
        let at = row * self.columns.len() + column;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..self.ends[at]]
    }

    fn parsed<T: std::str::FromStr + Copy>(&self, places: &[usize], missing: Option<T>) -> Read<Vec<T>> {
        let mut numbers = reserved(self.len().saturating_mul(places.len()))?;
        for row in 0..self.len() {
            for &place in places {
                let text = self.field(row, place).trim();
                let number = match missing {
                    Some(number) if text.is_empty() => number,
                    _ => text.parse().map_err(|_| self.no_number(row, place, size_of::<T>() == 8, text))?,
                };
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    #[cold]
    fn no_number(&self, row: usize, place: usize, is_wide: bool, text: &str) -> ErrorKind {
        let (file, line, column) = (&self.file, self.lines[row], &self.columns[place]);
        if text.is_empty() {
            return ErrorKind::Format(format!(
                "{file}:{line}: column {column:?} is empty, and nothing stands for what is missing"
            ));
        }
        let what = if is_wide && text.parse::<f64>().is_ok() {
            "an integer that an i64 has room for"
        } else {
            "a number"
        };
        ErrorKind::Format(format!("{file}:{line}: column {column:?} is {text:?}, not {what}"))
    }
}

/// Memory for so many elements, or an error that says how much it would be.
fn reserved<T>(n: usize) -> Read<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(n).map_err(|_| out_of_memory(n.saturating_mul(size_of::<T>())))?;
    Ok(elements)
}

fn out_of_memory(requested: usize) -> ErrorKind {
    ErrorKind::OutOfMemory { requested, active: 0, cached: 0, limit: None, free: None }
}

fn parsed(file: String, bytes: &[u8], options: CsvOptions) -> Read<Table> {
    let delimiter = options.delimiter;
    if !delimiter.is_ascii() || ['"', '\n', '\r'].contains(&delimiter) {
        let text = format!(
            "takes a delimiter that is an ASCII character, no quote and no line's end, got {delimiter:?}"
        );
        return Err(ErrorKind::Value(text));
    }
    // What some programs begin files with: the mark of UTF-8.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        ErrorKind::Format(format!("{file}:{line}: text that is no UTF-8"))
    })?;
    let mut table = Table { file, columns: vec![], text: String::new(), ends: vec![], lines: vec![] };
    table.text.try_reserve_exact(text.len()).map_err(|_| out_of_memory(text.len()))?;
    let mut records = Records { rest: text, line: 1, delimiter: delimiter as u8 };
    let refused = |file: &str, line: usize, text: &str| ErrorKind::Format(format!("{file}:{line}: {text}"));
    if options.header {
        let mut names: Vec<String> = vec![];
        let first = records.next(|field, is_new| match names.last_mut() {
            Some(name) if !is_new => name.push_str(field),
            _ => names.push(field.to_string()),
        });
        match first {
            Ok(None) => {
                return Err(refused(&table.file, 1, "no row, where one should have the columns' names"));
            }
            Ok(Some(_)) => {}
            Err((line, text)) => return Err(refused(&table.file, line, text)),
        }
        if let Some((i, name)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return Err(refused(&table.file, 1, &format!("column {i} is called {name:?}, as one before it")));
        }
        table.columns = names;
    }
    loop {
        let before = table.ends.len();
        let Table { text, ends, .. } = &mut table;
        let record = records.next(|field, is_new| {
            if is_new {
                ends.push(text.len());
            }
            text.push_str(field);
            if let Some(end) = ends.last_mut() {
                *end = text.len();
            }
        });
        let line = match record {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(table),
            Err((line, text)) => return Err(refused(&table.file, line, text)),
        };
        let fields = table.ends.len() - before;
        if before == 0 && !options.header {
            table.columns = (0..fields).map(|i| i.to_string()).collect();
        }
        if fields != table.columns.len() {
            let text = format!("{fields} fields, where {} columns are", table.columns.len());
            return Err(refused(&table.file, line, &text));
        }
        table.lines.push(line);
    }
}

/// The rows of a text.
struct Records<'a> {
    rest: &'a str,
    line: usize,
    delimiter: u8,
}

impl Records<'_> {
    /// The next row, told in pieces: a field's first one is new. Answers with the line in which the row begins, or what is wrong.
    fn next(
        &mut self,
        mut piece: impl FnMut(&str, bool),
    ) -> std::result::Result<Option<usize>, (usize, &'static str)> {
        while let Some(rest) = self.rest.strip_prefix('\n').or_else(|| self.rest.strip_prefix("\r\n")) {
            (self.rest, self.line) = (rest, self.line + 1);
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let first = self.line;
        loop {
            if let Some(quoted) = self.rest.strip_prefix('"') {
                self.rest = quoted;
                let mut is_new = true;
                loop {
                    let Some(end) = self.rest.find('"') else {
                        return Err((first, "a row with a quote that is not closed"));
                    };
                    let inside = &self.rest[..end];
                    self.line += inside.bytes().filter(|&b| b == b'\n').count();
                    piece(inside, is_new);
                    self.rest = &self.rest[end + 1..];
                    let Some(rest) = self.rest.strip_prefix('"') else { break };
                    piece("\"", false);
                    (self.rest, is_new) = (rest, false);
                }
            } else {
                let end = self.rest.bytes().position(|b| b == b'\n' || b == self.delimiter);
                let end = end.unwrap_or(self.rest.len());
                let (field, rest) = self.rest.split_at(end);
                // Of a line's end, where it is one of two.
                let is_last = rest.starts_with('\n');
                piece(if is_last { field.strip_suffix('\r').unwrap_or(field) } else { field }, true);
                self.rest = rest;
            }
            if self.rest.is_empty() {
                return Ok(Some(first));
            }
            if let Some(rest) = self.rest.strip_prefix('\n').or_else(|| self.rest.strip_prefix("\r\n")) {
                (self.rest, self.line) = (rest, self.line + 1);
                return Ok(Some(first));
            }
            match self.rest.strip_prefix(char::from(self.delimiter)) {
                Some(rest) => self.rest = rest,
                None => return Err((self.line, "more behind a quoted field than what parts fields")),
            }
        }
    }
}
