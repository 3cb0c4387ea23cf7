//! Python's pickles, read by a machine that calls nothing of Python's: what a pickle names and calls is asked of a [`Host`].
//!
//! Values lie in one list, and refer to each other by their places in it: so what is nested deeply, or contains itself, is no danger to the
//! stack, and every opcode makes no more than the bytes that it takes justify. Source: Python's `pickletools`, protocols 0 to 5.

use std::collections::HashMap;

use mg_device::ErrorKind;

type Outcome<T> = std::result::Result<T, ErrorKind>;

/// The place of a value.
pub(crate) type Id = usize;

/// A value of a pickle; `T` is what a host makes.
#[derive(Clone)]
pub(crate) enum Value<T> {
    None,
    Bool(bool),
    Int(i128),
    /// An integer of more than 128 bits, little-endian in two's complement.
    Large(Vec<u8>),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Set(Vec<Id>),
    /// In the order in which they were set; of a key that was set twice, the last counts.
    Dict(Vec<(Id, Id)>),
    Thing(T),
}

/// Who knows what a pickle names.
pub(crate) trait Host {
    /// What it makes.
    type Thing: Clone;

    /// An error of the file.
    fn wrong(&self, text: &str) -> ErrorKind;

    /// What is called `module.name`.
    fn find(&mut self, module: &str, name: &str) -> Outcome<Self::Thing>;

    /// What a thing answers with when it is called.
    fn call(
        &mut self,
        heap: &mut Vec<Value<Self::Thing>>,
        thing: &Self::Thing,
        arguments: &[Id],
    ) -> Outcome<Value<Self::Thing>>;

    /// Tells a thing what its state is.
    fn build(&mut self, heap: &mut Vec<Value<Self::Thing>>, thing: Id, state: Id) -> Outcome<()>;

    /// What is not in the pickle itself.
    fn persistent(&mut self, heap: &[Value<Self::Thing>], name: Id) -> Outcome<Self::Thing>;
}

/// Reads a pickle: the values that it made, and which of them is the answer.
pub(crate) fn read<H: Host>(data: &[u8], host: &mut H) -> Outcome<(Vec<Value<H::Thing>>, Id)> {
    let mut machine = Machine {
        data,
        heap: vec![],
        stack: vec![],
        marks: vec![],
        memo: HashMap::new(),
        left: data.len(),
        host,
    };
    let id = machine.run()?;
    Ok((machine.heap, id))
}

struct Machine<'a, H: Host> {
    /// What was not read yet.
    data: &'a [u8],
    heap: Vec<Value<H::Thing>>,
    stack: Vec<Id>,
    /// How high the stack was at each mark.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// How many arguments may still be handed over: what is remembered may be called with often, and is then not read again.
    left: usize,
    host: &'a mut H,
}

impl<'a, H: Host> Machine<'a, H> {
    fn run(&mut self) -> Outcome<Id> {
        loop {
            let [op] = self.exactly()?;
            if op == b'.' {
                return self.pop();
            }
            self.step(op)?;
        }
    }

    #[cold]
    fn wrong<T>(&self, text: &str) -> Outcome<T> {
        Err(self.host.wrong(&format!("its pickle cannot be read: {text}")))
    }

    fn take(&mut self, n: u64) -> Outcome<&'a [u8]> {
        match usize::try_from(n).ok().and_then(|n| self.data.split_at_checked(n)) {
            Some((taken, rest)) => {
                self.data = rest;
                Ok(taken)
            }
            None => self.wrong("truncated"),
        }
    }

    fn exactly<const N: usize>(&mut self) -> Outcome<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N as u64)?);
        Ok(bytes)
    }

    /// A length of so many bytes.
    fn length(&mut self, bytes: u64) -> Outcome<u64> {
        let taken = self.take(bytes)?;
        Ok(taken.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    fn line(&mut self) -> Outcome<&'a str> {
        let Some(end) = self.data.iter().position(|&b| b == b'\n') else { return self.wrong("truncated") };
        let line = self.take(end as u64 + 1)?;
        match std::str::from_utf8(&line[..end]) {
            Ok(text) => Ok(text.trim_end_matches('\r')),
            Err(_) => self.wrong("a line that is no UTF-8"),
        }
    }

    fn text(&mut self, length_bytes: u64) -> Outcome<()> {
        let length = self.length(length_bytes)?;
        let bytes = self.take(length)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => self.push(Value::Text(text.to_owned())),
            Err(_) => self.wrong("a text that is no UTF-8"),
        }
    }

    fn bytes(&mut self, length_bytes: u64) -> Outcome<()> {
        let length = self.length(length_bytes)?;
        let bytes = self.take(length)?.to_vec();
        self.push(Value::Bytes(bytes))
    }

    fn integer(&mut self, length: u64) -> Outcome<()> {
        let bytes = self.take(length)?;
        if bytes.len() > 16 {
            return self.push(Value::Large(bytes.to_vec()));
        }
        let is_negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut all = [if is_negative { 0xff } else { 0 }; 16];
        all[..bytes.len()].copy_from_slice(bytes);
        self.push(Value::Int(i128::from_le_bytes(all)))
    }

    #[allow(clippy::unnecessary_wraps, reason = "an opcode answers so")]
    fn push(&mut self, value: Value<H::Thing>) -> Outcome<()> {
        self.stack.push(self.heap.len());
        self.heap.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Outcome<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return self.wrong("it takes more than it made");
        }
        self.stack.pop().map_or_else(|| self.wrong("it takes more than it made"), Ok)
    }

    fn top(&self) -> Outcome<Id> {
        self.stack.last().copied().map_or_else(|| self.wrong("it takes more than it made"), Ok)
    }

    /// What was made since the last mark.
    fn marked(&mut self) -> Outcome<Vec<Id>> {
        match self.marks.pop() {
            Some(at) => Ok(self.stack.split_off(at)),
            None => self.wrong("a mark is missing"),
        }
    }

    fn pairs(&mut self) -> Outcome<Vec<(Id, Id)>> {
        let marked = self.marked()?;
        if !marked.len().is_multiple_of(2) {
            return self.wrong("a key without a value");
        }
        Ok(marked.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    fn last(&mut self, n: usize) -> Outcome<Vec<Id>> {
        let mut ids = (0..n).map(|_| self.pop()).collect::<Outcome<Vec<Id>>>()?;
        ids.reverse();
        Ok(ids)
    }

    fn extend(&mut self, items: Vec<Id>) -> Outcome<()> {
        let top = self.top()?;
        match &mut self.heap[top] {
            Value::List(list) | Value::Set(list) => list.extend(items),
            _ => return self.wrong("it adds to what is no list and no set"),
        }
        Ok(())
    }

    fn set(&mut self, pairs: Vec<(Id, Id)>) -> Outcome<()> {
        let top = self.top()?;
        match &mut self.heap[top] {
            Value::Dict(dict) => dict.extend(pairs),
            _ => return self.wrong("it sets an item of what is no dictionary"),
        }
        Ok(())
    }

    fn recall(&mut self, at: u64) -> Outcome<()> {
        match self.memo.get(&at) {
            Some(&id) => self.stack.push(id),
            None => return self.wrong(&format!("it remembers nothing as {at}")),
        }
        Ok(())
    }

    fn remember(&mut self, at: u64) -> Outcome<()> {
        let top = self.top()?;
        self.memo.insert(at, top);
        Ok(())
    }

    fn global(&mut self, module: &str, name: &str) -> Outcome<()> {
        let thing = self.host.find(module, name)?;
        self.push(Value::Thing(thing))
    }

    fn call(&mut self, function: Id, arguments: Id) -> Outcome<()> {
        let (Value::Thing(thing), Value::Tuple(arguments)) = (&self.heap[function], &self.heap[arguments])
        else {
            return self.wrong("it calls what is no function");
        };
        let (thing, arguments) = (thing.clone(), arguments.clone());
        let Some(left) = self.left.checked_sub(arguments.len()) else {
            return self.wrong("its calls take more than it has");
        };
        self.left = left;
        let made = self.host.call(&mut self.heap, &thing, &arguments)?;
        self.push(made)
    }

    fn step(&mut self, op: u8) -> Outcome<()> {
        match op {
            // The protocol, and how long the next opcodes are together.
            0x80 => self.take(1).map(drop),
            0x95 => self.take(8).map(drop),
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'0' => match self.marks.last() == Some(&self.stack.len()) {
                true => self.marked().map(drop),
                false => self.pop().map(drop),
            },
            b'1' => self.marked().map(drop),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
                Ok(())
            }
            b'N' => self.push(Value::None),
            0x88 | 0x89 => self.push(Value::Bool(op == 0x88)),
            b'I' | b'L' => match self.line()? {
                "00" => self.push(Value::Bool(false)),
                "01" => self.push(Value::Bool(true)),
                text => match text.trim_end_matches('L').parse() {
                    Ok(number) => self.push(Value::Int(number)),
                    Err(_) => self.wrong(&format!("{text:?} is no integer")),
                },
            },
            b'J' => self.integer(4),
            b'K' | b'M' => {
                let number = self.length(if op == b'K' { 1 } else { 2 })?;
                self.push(Value::Int(number.into()))
            }
            0x8a | 0x8b => {
                let length = self.length(if op == 0x8a { 1 } else { 4 })?;
                self.integer(length)
            }
            b'F' => {
                let text = self.line()?;
                match text.parse() {
                    Ok(number) => self.push(Value::Float(number)),
                    Err(_) => self.wrong(&format!("{text:?} is no number")),
                }
            }
            b'G' => {
                let number = f64::from_be_bytes(self.exactly()?);
                self.push(Value::Float(number))
            }
            b'V' => {
                let text = self.line()?.to_owned();
                if text.contains('\\') {
                    return self.wrong("a text with escapes");
                }
                self.push(Value::Text(text))
            }
            0x8c | b'U' => self.text(1),
            b'X' | b'T' => self.text(4),
            0x8d => self.text(8),
            b'C' => self.bytes(1),
            b'B' => self.bytes(4),
            0x8e | 0x96 => self.bytes(8),
            b']' => self.push(Value::List(vec![])),
            b'}' => self.push(Value::Dict(vec![])),
            b')' => self.push(Value::Tuple(vec![])),
            0x8f => self.push(Value::Set(vec![])),
            b'a' => {
                let item = self.pop()?;
                self.extend(vec![item])
            }
            b'e' | 0x90 => {
                let items = self.marked()?;
                self.extend(items)
            }
            b'l' => {
                let items = self.marked()?;
                self.push(Value::List(items))
            }
            b't' => {
                let items = self.marked()?;
                self.push(Value::Tuple(items))
            }
            0x91 => {
                let items = self.marked()?;
                self.push(Value::Set(items))
            }
            0x85..=0x87 => {
                let items = self.last(usize::from(op - 0x84))?;
                self.push(Value::Tuple(items))
            }
            b'd' => {
                let pairs = self.pairs()?;
                self.push(Value::Dict(pairs))
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(vec![(key, value)])
            }
            b'u' => {
                let pairs = self.pairs()?;
                self.set(pairs)
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(module, name)
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Value::Text(module), Value::Text(name)) = (&self.heap[module], &self.heap[name]) else {
                    return self.wrong("a name that is no text");
                };
                let (module, name) = (module.clone(), name.clone());
                self.global(&module, &name)
            }
            // A function's answer, and a class's, which is made without a constructor.
            b'R' | 0x81 => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                self.call(function, arguments)
            }
            b'b' => {
                let (state, object) = (self.pop()?, self.top()?);
                match &self.heap[object] {
                    Value::Thing(_) => self.host.build(&mut self.heap, object, state),
                    // What PyTorch sets on the dictionary of a state: `_metadata`.
                    Value::Dict(_) => Ok(()),
                    _ => self.wrong("it sets the state of what has none"),
                }
            }
            b'Q' => {
                let name = self.pop()?;
                let thing = self.host.persistent(&self.heap, name)?;
                self.push(Value::Thing(thing))
            }
            b'g' | b'p' => {
                let text = self.line()?;
                let Ok(at) = text.parse() else { return self.wrong(&format!("{text:?} is no number")) };
                if op == b'g' { self.recall(at) } else { self.remember(at) }
            }
            b'h' | b'j' => {
                let at = self.length(if op == b'h' { 1 } else { 4 })?;
                self.recall(at)
            }
            b'q' | b'r' => {
                let at = self.length(if op == b'q' { 1 } else { 4 })?;
                self.remember(at)
            }
            0x94 => self.remember(self.memo.len() as u64),
            other => self.wrong(&format!("the opcode {other:#04x} is none that is taken")),
        }
    }
}
