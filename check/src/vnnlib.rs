//! Properties written in VNN-LIB 1.0.
//!
//! An assertion is a comparison of linear terms, an `and` of comparisons, or an `or` of these. Whether a comparison is strict is not
//! heeded: that only adds counterexamples, so whoever proves that there are none proves it of the stated property.

use std::collections::HashMap;
use std::sync::Arc;

use crate::number::Ratio;
use crate::property::{Disjunct, Linear, Property};
use crate::{Refused, refuse, refused, require};

/// How deep parentheses may nest, which bounds the depth of recursion.
const MAX_DEPTH: usize = 20;
/// The most comparisons of all cases together, what they have in common included; a case counts as one more.
const MAX_SIZE: usize = 1 << 24;

impl Property {
    /// The property of a text in VNN-LIB.
    pub fn read(text: &str) -> Result<Self, Refused> {
        let mut reader = Reader { variables: HashMap::new(), counts: [0, 0], common: vec![], cases: vec![vec![]] };
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut tokens = words(&spaced).peekable();
        while let Some(&(line, _)) = tokens.peek() {
            let done = term(&mut tokens, 0).and_then(|command| reader.command(&command));
            done.map_err(|fault| fault.at(format!("line {line} of the property")))?;
        }
        let Reader { counts: [inputs, outputs], common, cases, .. } = reader;
        require(inputs > 0 && outputs > 0, "there are no inputs or no outputs")?;
        fits(common.len().saturating_mul(cases.len()))?;
        let mut disjuncts = Vec::<Disjunct>::new();
        for case in &cases {
            let Some(mut own) = Disjunct::of(inputs, common.iter().chain(case))? else { continue };
            // The same box again takes no memory.
            if let Some(last) = disjuncts.last().filter(|last| (&last.lower, &last.upper) == (&own.lower, &own.upper)) {
                (own.lower, own.upper) = (last.lower.clone(), last.upper.clone());
            }
            disjuncts.push(own);
        }
        Ok(Self { inputs, outputs, disjuncts })
    }
}

/// Comparisons that hold together, in the order of the text.
type Conjunction = Vec<Arc<Linear>>;

/// Refuses what is too large when it is written out.
fn fits(size: usize) -> Result<(), Refused> {
    require(size <= MAX_SIZE, format!("written out, the cases have more than {MAX_SIZE} comparisons"))
}

/// The words of a text, each with its line. A comment runs from a semicolon to the end of its line.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(|line| line.split(';').next().unwrap_or("")));
    lines.flat_map(|(number, line)| line.split_ascii_whitespace().map(move |word| (number, word)))
}

/// A word, or what stands in parentheses.
enum Term<'t> {
    Word(&'t str),
    List(Vec<Term<'t>>),
}

use Term::{List, Word};

impl<'t> Term<'t> {
    /// What stands in parentheses, none of a word.
    fn parts(&self) -> &[Term<'t>] {
        if let List(terms) = self { terms } else { &[] }
    }

    /// In short: what it begins with.
    fn told(&self) -> String {
        let head = if let Word(word) = self.parts().first().unwrap_or(self) { word } else { "()" };
        format!("`{head}` with {} operands", self.parts().len().saturating_sub(1))
    }
}

/// The term that begins with the next token.
fn term<'t>(tokens: &mut dyn Iterator<Item = (usize, &'t str)>, depth: usize) -> Result<Term<'t>, Refused> {
    let (_, token) = tokens.next().ok_or_else(|| refused("the text ends inside of parentheses"))?;
    if token != "(" {
        return Ok(Word(token));
    }
    require(depth < MAX_DEPTH, "parentheses nest too deep")?;
    let mut terms = Vec::new();
    loop {
        match term(tokens, depth + 1)? {
            Word(")") => return Ok(List(terms)),
            term => terms.push(term),
        }
    }
}

/// What has been read so far: `common ∧ (case ∨ …)`, the conjunction of all assertions.
///
/// The order of cases is part of the meaning, since proofs refer to disjuncts by number: each further `or` runs through
/// its cases for each of the cases before.
struct Reader<'t> {
    /// Whether each is an output, and its number.
    variables: HashMap<&'t str, (bool, usize)>,
    /// The inputs and outputs declared.
    counts: [usize; 2],
    common: Conjunction,
    cases: Vec<Conjunction>,
}

impl<'t> Reader<'t> {
    fn command(&mut self, command: &Term<'t>) -> Result<(), Refused> {
        match command.parts() {
            [Word("declare-const"), Word(name), Word("Real")] => self.declare(name),
            [Word("assert"), condition] => self.assertion(condition),
            _ => refuse(format!("the command {} is not known", command.told())),
        }
    }

    /// `X_0` and so on, inputs and outputs each in their order.
    fn declare(&mut self, name: &'t str) -> Result<(), Refused> {
        let [inputs, outputs] = self.counts;
        let is_output = name == format!("Y_{outputs}");
        let is_next = is_output || name == format!("X_{inputs}");
        require(is_next, format!("`{name}` is declared where only X_{inputs} or Y_{outputs} can be"))?;
        let count = &mut self.counts[usize::from(is_output)];
        self.variables.insert(name, (is_output, *count));
        *count += 1;
        Ok(())
    }

    fn assertion(&mut self, condition: &Term) -> Result<(), Refused> {
        let [Word("or"), cases @ ..] = condition.parts() else {
            self.common.extend(self.conjunction(condition)?);
            return Ok(());
        };
        let cases = cases.iter().map(|case| self.conjunction(case)).collect::<Result<Vec<_>, _>>()?;
        match &cases[..] {
            [] => return refuse("`or` has no operands"),
            [one] => self.common.extend_from_slice(one),
            _ => {
                let size = |cases: &[Conjunction]| cases.iter().map(|case| case.len() + 1).sum::<usize>();
                let own = size(&self.cases).saturating_mul(cases.len());
                fits(size(&cases).saturating_mul(self.cases.len()).saturating_add(own))?;
                let with =
                    |first: &Conjunction| cases.iter().map(|case| [first, &case[..]].concat()).collect::<Vec<_>>();
                self.cases = self.cases.iter().flat_map(with).collect();
            }
        }
        Ok(())
    }

    /// A comparison or an `and` of comparisons.
    fn conjunction(&self, condition: &Term) -> Result<Conjunction, Refused> {
        let all = if let [Word("and"), all @ ..] = condition.parts() { all } else { std::slice::from_ref(condition) };
        require(!all.is_empty(), "`and` has no operands")?;
        all.iter().map(|comparison| self.comparison(comparison).map(Arc::new)).collect()
    }

    /// A relation of two terms: their difference is at most zero.
    fn comparison(&self, comparison: &Term) -> Result<Linear, Refused> {
        let (less, more) = match comparison.parts() {
            [Word("<=" | "<"), left, right] => (left, right),
            [Word(">=" | ">"), left, right] => (right, left),
            _ => return refuse(format!("a comparison was expected, and {} is not supported", comparison.told())),
        };
        let mut linear = Linear { terms: Vec::new(), constant: Ratio::ZERO };
        self.add(less, Ratio::ONE, &mut linear)?;
        self.add(more, MINUS_ONE, &mut linear)?;
        linear.terms.retain(|term| term.1 != Ratio::ZERO);
        Ok(linear)
    }

    /// Adds a term times a factor to a sum: a number, a variable, or `(+ term …)`, `(- term term)` or `(* number term)`.
    fn add(&self, term: &Term, factor: Ratio, sum: &mut Linear) -> Result<(), Refused> {
        let times = |other: Ratio| factor.mul(other).ok_or_else(Refused::overflow);
        match (term, term.parts()) {
            (Word(token), _) => match self.variables.get(token) {
                None => sum.constant = sum.constant.add(times(number(token)?)?).ok_or_else(Refused::overflow)?,
                Some(&variable) => match sum.terms.binary_search_by_key(&variable, |term| term.0) {
                    Ok(at) => sum.terms[at].1 = sum.terms[at].1.add(factor).ok_or_else(Refused::overflow)?,
                    Err(at) => sum.terms.insert(at, (variable, factor)),
                },
            },
            (_, [Word("+"), terms @ ..]) => terms.iter().try_for_each(|term| self.add(term, factor, sum))?,
            (_, [Word("-"), first, second]) => {
                self.add(first, factor, sum)?;
                self.add(second, times(MINUS_ONE)?, sum)?;
            }
            (_, [Word("*"), Word(token), term]) => self.add(term, times(number(token)?)?, sum)?,
            _ => return refuse(format!("{} is not supported here", term.told())),
        }
        Ok(())
    }
}

const MINUS_ONE: Ratio = Ratio { numerator: -1, denominator: 1 };

fn number(token: &str) -> Result<Ratio, Refused> {
    Ratio::parse(token)
        .ok_or_else(|| refused(format!("`{token}` is neither declared nor a decimal that is short enough")))
}
