//! A tally as an aggregate function of the engine: its rows are pieces of a table.

use datafusion::arrow::array::{ArrayRef, AsArray as _};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, Signature, Volatility, col, lit,
};
use datafusion::physical_expr::expressions::Literal;
use equipoise_data::Error;
use equipoise_data::read::{Piece, Tally};
use std::fmt;
use std::sync::Arc;

/// The function, which client, scheduler and executors all know.
pub fn pass() -> AggregateUDF {
    AggregateUDF::from(Pass { signature: Signature::variadic_any(Volatility::Immutable) })
}

/// The function called with a question, on a column of pieces.
pub fn call(question: &str, pieces: &str) -> Expr {
    let question = ScalarValue::Utf8(Some(question.to_owned()));
    // As one value of a dictionary: a plain text would be copied for every row.
    let question = ScalarValue::Dictionary(Box::new(DataType::Int8), Box::new(question));
    pass().call(vec![col(pieces), lit(question)])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Pass {
    signature: Signature,
}

impl AggregateUDFImpl for Pass {
    fn name(&self) -> &str {
        "equipoise_pass"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn state_fields(&self, _: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new("state", DataType::LargeBinary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let literal = args.exprs.last().and_then(|last| last.downcast_ref::<Literal>());
        match literal.and_then(|literal| literal.value().try_as_str().flatten()) {
            Some(question) => Ok(Box::new(Counting(Tally::new(question).map_err(failed)?))),
            None => exec_err!("a question that is not written out"),
        }
    }
}

struct Counting(Tally);

impl fmt::Debug for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tally of {} bytes", self.0.size())
    }
}

impl Accumulator for Counting {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let pieces = cast(&values[0], &DataType::Utf8)?;
        for piece in pieces.as_string::<i32>().iter().flatten() {
            let piece: Piece =
                serde_json::from_str(piece).map_err(|error| DataFusionError::Execution(error.to_string()))?;
            self.0.read(&piece);
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states[0]
            .as_binary::<i64>()
            .iter()
            .flatten()
            .try_for_each(|state| self.0.merge(state).map_err(failed))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::LargeBinary(Some(self.0.state()))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::LargeBinary(Some(self.0.state())))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.0.size()
    }
}

fn failed(error: Error) -> DataFusionError {
    DataFusionError::Execution(error.to_string())
}
