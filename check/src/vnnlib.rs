//! Properties written in VNN-LIB 1.0.
//!
//! An assertion is a comparison of linear terms, an `and` of comparisons, or an `or` of these. Whether a comparison is
//! strict is not heeded: that only adds counterexamples, so whoever proves that there are none proves it of the stated
//! property.

use std::collections::HashMap;

use crate::number::Ratio;
use crate::property::{Conjunction, Linear, Property, assemble};
use crate::{Refused, refuse, refused, require};

/// How deep terms may nest, which bounds the depth of recursion.
const MAX_DEPTH: usize = 16;
/// The most comparisons of all cases together; a case counts as one more.
const MAX_SIZE: usize = 1 << 22;

impl Property {
    /// The property of a text in VNN-LIB.
    pub fn read(text: &str) -> Result<Self, Refused> {
        let mut reader = Reader {
            tokens: Box::new(tokens(text)),
            line: 1,
            variables: HashMap::new(),
            counts: [0, 0],
            common: Conjunction::default(),
            cases: vec![Conjunction::default()],
        };
        reader.commands().map_err(|fault| fault.at(format!("line {} of the property", reader.line)))?;
        assemble(reader.counts, &reader.common, &reader.cases)
    }
}

/// The brackets and words of a text, each with its line. A comment runs from a semicolon to the end of its line.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const BRACKETS: [char; 2] = ['(', ')'];
    let split = |piece| match str::strip_suffix(piece, BRACKETS) {
        Some(word) => [word, &piece[word.len()..]],
        None => [piece, ""],
    };
    (1..).zip(text.lines()).flat_map(move |(number, line)| {
        let words = line.split(';').take(1).flat_map(str::split_ascii_whitespace);
        let tokens = words.flat_map(|word| word.split_inclusive(BRACKETS)).flat_map(split);
        tokens.filter(|token| !token.is_empty()).map(move |token| (number, token))
    })
}

/// What has been read so far: `common ∧ (case ∨ …)`, the conjunction of all assertions.
///
/// The order of cases is part of the meaning, since proofs refer to disjuncts by number: each further `or` runs through
/// its cases for each of the cases before.
struct Reader<'t> {
    tokens: Box<dyn Iterator<Item = (usize, &'t str)> + 't>,
    line: usize,
    /// Whether each is an output, and its number.
    variables: HashMap<&'t str, (bool, usize)>,
    /// The inputs and outputs declared.
    counts: [usize; 2],
    common: Conjunction,
    cases: Vec<Conjunction>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let (line, token) = self.tokens.next()?;
        self.line = line;
        Some(token)
    }

    fn must(&mut self) -> Result<&'t str, Refused> {
        self.next().ok_or_else(|| refused("the text ends inside of parentheses"))
    }

    fn expect(&mut self, expected: &str) -> Result<(), Refused> {
        let token = self.must()?;
        if token == expected { Ok(()) } else { refuse(format!("`{expected}` was expected, not `{token}`")) }
    }

    /// Whether another operand in parentheses begins; if not, the operator's own close.
    fn opens(&mut self) -> Result<bool, Refused> {
        match self.must()? {
            "(" => Ok(true),
            ")" => Ok(false),
            other => refuse(format!("a condition was expected, not `{other}`")),
        }
    }

    fn commands(&mut self) -> Result<(), Refused> {
        while let Some(token) = self.next() {
            match (token, self.must()?) {
                ("(", "declare-const") => self.declare()?,
                ("(", "assert") => self.assertion()?,
                (token, next) => return refuse(format!("the command `{token}{next}` is not known")),
            }
            self.expect(")")?;
        }
        require(!self.counts.contains(&0), "there are no inputs or no outputs")
    }

    /// `X_0 Real` and so on, inputs and outputs each in their order.
    fn declare(&mut self) -> Result<(), Refused> {
        let name = self.must()?;
        let [inputs, outputs] = self.counts;
        let is_output = name == format!("Y_{outputs}");
        let is_next = is_output || name == format!("X_{inputs}");
        require(is_next, format!("`{name}` is declared where only X_{inputs} or Y_{outputs} can be"))?;
        let count = &mut self.counts[usize::from(is_output)];
        self.variables.insert(name, (is_output, *count));
        *count += 1;
        self.expect("Real")
    }

    fn assertion(&mut self) -> Result<(), Refused> {
        self.expect("(")?;
        let operator = self.must()?;
        let mut cases = Vec::new();
        if operator == "or" {
            while self.opens()? {
                let operator = self.must()?;
                cases.push(self.conjunction(operator)?);
            }
        } else {
            cases.push(self.conjunction(operator)?);
        }
        require(!cases.is_empty(), "`or` has no operands")?;
        if cases.len() == 1 {
            cases.drain(..).for_each(|case| self.common.append(case));
            return Ok(());
        }
        let size = |cases: &[Conjunction]| cases.iter().map(|case| case.len() + 1).sum::<usize>();
        let own = size(&self.cases).saturating_mul(cases.len());
        let all = size(&cases).saturating_mul(self.cases.len()).saturating_add(own);
        require(all <= MAX_SIZE, format!("written out, the cases have more than {MAX_SIZE} comparisons"))?;
        let both = |first: &Conjunction, second: &Conjunction| {
            let mut both = first.clone();
            both.append(second.clone());
            both
        };
        self.cases = self.cases.iter().flat_map(|first| cases.iter().map(move |second| both(first, second))).collect();
        Ok(())
    }

    /// A comparison or an `and` of comparisons, behind its operator.
    fn conjunction(&mut self, operator: &str) -> Result<Conjunction, Refused> {
        let mut conjunction = Conjunction::default();
        if operator != "and" {
            self.comparison(operator, &mut conjunction)?;
            return Ok(conjunction);
        }
        while self.opens()? {
            let operator = self.must()?;
            self.comparison(operator, &mut conjunction)?;
        }
        if conjunction.len() == 0 { refuse("`and` has no operands") } else { Ok(conjunction) }
    }

    /// Two terms behind a relation: their difference is at most zero.
    fn comparison(&mut self, relation: &str, into: &mut Conjunction) -> Result<(), Refused> {
        let (left, right) = match relation {
            "<=" | "<" => (Ratio::ONE, MINUS_ONE),
            ">=" | ">" => (MINUS_ONE, Ratio::ONE),
            _ => return refuse(format!("the relation `{relation}` is not supported here")),
        };
        let mut linear = Linear { x: Vec::new(), y: Vec::new(), constant: Ratio::ZERO };
        for factor in [left, right] {
            let token = self.must()?;
            self.term(token, factor, 0, &mut linear)?;
        }
        self.expect(")")?;
        linear.x.retain(|term| term.1 != Ratio::ZERO);
        linear.y.retain(|term| term.1 != Ratio::ZERO);
        into.push(linear)
    }

    /// Adds the term that begins with a token, times a factor, to a sum: a number, a variable, or `(+ term …)`,
    /// `(- term term)` or `(* number term)`.
    fn term(&mut self, token: &str, factor: Ratio, depth: usize, sum: &mut Linear) -> Result<(), Refused> {
        if token != "(" {
            return self.operand(token, factor, sum);
        }
        require(depth < MAX_DEPTH, "parentheses nest too deep")?;
        let factors = match self.must()? {
            "+" => {
                let mut next = self.must()?;
                while next != ")" {
                    self.term(next, factor, depth + 1, sum)?;
                    next = self.must()?;
                }
                return Ok(());
            }
            "-" => vec![factor, factor.mul(MINUS_ONE).ok_or_else(Refused::overflow)?],
            "*" => vec![number(self.must()?)?.mul(factor).ok_or_else(Refused::overflow)?],
            other => return refuse(format!("the operator `{other}` is not supported")),
        };
        for factor in factors {
            let next = self.must()?;
            self.term(next, factor, depth + 1, sum)?;
        }
        self.expect(")")
    }

    fn operand(&self, token: &str, factor: Ratio, sum: &mut Linear) -> Result<(), Refused> {
        let Some(&(is_output, variable)) = self.variables.get(token) else {
            let constant = number(token)?.mul(factor).and_then(|value| sum.constant.add(value));
            sum.constant = constant.ok_or_else(Refused::overflow)?;
            return Ok(());
        };
        let terms = if is_output { &mut sum.y } else { &mut sum.x };
        match terms.binary_search_by_key(&variable, |term| term.0) {
            Ok(place) => terms[place].1 = terms[place].1.add(factor).ok_or_else(Refused::overflow)?,
            Err(place) => terms.insert(place, (variable, factor)),
        }
        Ok(())
    }
}

const MINUS_ONE: Ratio = Ratio { numerator: -1, denominator: 1 };

fn number(token: &str) -> Result<Ratio, Refused> {
    Ratio::parse(token)
        .ok_or_else(|| refused(format!("`{token}` is neither declared nor a decimal that is short enough")))
}
