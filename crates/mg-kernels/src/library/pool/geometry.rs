//! Where windows lie.

use super::{MAX_AXES, Pool, Share};
use std::ops::Range;

/// The windows along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) padding: usize,
    pub(super) dilation: usize,
    pub(super) adaptive: bool,
}

/// The elements of a window along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// The first one.
    pub(super) first: usize,
    /// How many there are, `dilation` apart.
    pub(super) count: usize,
    /// Places of the window that lie before the axis.
    pub(super) before: usize,
}

impl Axis {
    pub(super) fn window(&self, output: usize) -> Window {
        if self.adaptive {
            let first = output * self.input / self.output;
            return Window {
                first,
                count: ((output + 1) * self.input).div_ceil(self.output) - first,
                before: 0,
            };
        }
        let start = output * self.stride;
        let before = self.padding.saturating_sub(start).div_ceil(self.dilation).min(self.kernel);
        let first = start + before * self.dilation - self.padding.min(start + before * self.dilation);
        let inside = self.input.saturating_sub(first).div_ceil(self.dilation);
        Window { first, count: inside.min(self.kernel - before), before }
    }

    /// The places of a window that lie on the axis or its margins.
    pub(super) fn places(&self, output: usize) -> usize {
        if self.adaptive {
            return self.window(output).count;
        }
        let start = output * self.stride;
        (start + self.kernel).min(self.input + 2 * self.padding).saturating_sub(start)
    }

    /// The outputs whose windows begin at or before an input and end behind it. (With a dilation, some may step over it.)
    pub(super) fn readers(&self, input: usize) -> Range<usize> {
        if self.adaptive {
            return input * self.output / self.input..((input + 1) * self.output).div_ceil(self.input);
        }
        let at = input + self.padding;
        let reach = self.dilation * (self.kernel - 1);
        let end = (at / self.stride + 1).min(self.output);
        at.saturating_sub(reach).div_ceil(self.stride).min(end)..end
    }

    /// The outputs whose windows have a place (its number) on the axis, and the first one's element there; those that follow are `stride` apart.
    /// Not for adaptive windows.
    pub(super) fn hits(&self, place: usize) -> (Range<usize>, usize) {
        let shift = place * self.dilation;
        let first = self.padding.saturating_sub(shift).div_ceil(self.stride);
        let end = match (self.input + self.padding).checked_sub(shift + 1) {
            Some(last) => (last / self.stride + 1).min(self.output),
            None => 0,
        };
        let first = first.min(end);
        (first..end, (first * self.stride + shift).saturating_sub(self.padding))
    }
}

/// Planes and their windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Geometry {
    pub(super) planes: usize,
    pub(super) axes: [Axis; MAX_AXES],
    pub(super) share: Share,
}

impl Geometry {
    pub(super) fn of(pool: &Pool, planes: usize) -> Geometry {
        let axes = std::array::from_fn(|i| Axis {
            input: pool.input[i] as usize,
            output: pool.output[i] as usize,
            kernel: pool.kernel[i] as usize,
            stride: pool.stride[i] as usize,
            padding: pool.padding[i] as usize,
            dilation: pool.dilation[i] as usize,
            adaptive: pool.adaptive,
        });
        Geometry { planes, axes, share: pool.share }
    }

    /// Elements of a plane.
    pub(super) fn inputs(&self) -> usize {
        self.axes.iter().map(|a| a.input).product()
    }

    /// Windows of a plane.
    pub(super) fn outputs(&self) -> usize {
        self.axes.iter().map(|a| a.output).product()
    }

    /// Places of a window.
    pub(super) fn places(&self) -> usize {
        self.axes.iter().map(|a| a.kernel).product()
    }

    /// What the sum of a window is divided by, as a product over axes; of a number, it is that of the last axis.
    pub(super) fn divisor(&self, axis: usize, output: usize) -> i64 {
        match self.share {
            Share::Places => self.axes[axis].places(output) as i64,
            Share::Elements => self.axes[axis].window(output).count as i64,
            Share::Number(n) if axis + 1 == MAX_AXES => n,
            Share::Number(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of a window, by what it means.
    fn elements(a: &Axis, output: usize) -> Vec<usize> {
        if a.adaptive {
            return (0..a.input)
                .filter(|i| {
                    i * a.output + a.output > output * a.input && i * a.output < (output + 1) * a.input
                })
                .collect();
        }
        (0..a.kernel)
            .map(|k| (output * a.stride + k * a.dilation) as i64 - a.padding as i64)
            .filter(|i| (0..a.input as i64).contains(i))
            .map(|i| i as usize)
            .collect()
    }

    #[test]
    fn windows_are_where_they_are_said_to_be() {
        let mut axes = vec![];
        for input in 1..9 {
            for kernel in 1..5 {
                for stride in 1..4 {
                    for padding in 0..3 {
                        for dilation in 1..4 {
                            for output in 1..8 {
                                axes.push(Axis {
                                    input,
                                    output,
                                    kernel,
                                    stride,
                                    padding,
                                    dilation,
                                    adaptive: false,
                                });
                            }
                        }
                    }
                }
            }
            for output in 1..12 {
                axes.push(Axis {
                    input,
                    output,
                    kernel: 1,
                    stride: 1,
                    padding: 0,
                    dilation: 1,
                    adaptive: true,
                });
            }
        }
        for a in axes {
            for o in 0..a.output {
                let wanted = elements(&a, o);
                let w = a.window(o);
                let step = if a.adaptive { 1 } else { a.dilation };
                let found: Vec<usize> = (0..w.count).map(|j| w.first + j * step).collect();
                assert_eq!(found, wanted, "{a:?}, output {o}");
                for i in wanted {
                    assert!(a.readers(i).contains(&o), "{a:?}, input {i}, output {o}");
                }
            }
            if a.adaptive {
                continue;
            }
            for place in 0..a.kernel {
                let (outputs, first) = a.hits(place);
                for o in 0..a.output {
                    let at = (o * a.stride + place * a.dilation) as i64 - a.padding as i64;
                    let inside = (0..a.input as i64).contains(&at);
                    assert_eq!(outputs.contains(&o), inside, "{a:?}, place {place}, output {o}");
                    if inside {
                        assert_eq!(first + (o - outputs.start) * a.stride, at as usize);
                    }
                }
            }
        }
    }
}
