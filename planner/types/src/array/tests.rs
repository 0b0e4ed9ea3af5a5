//! Shapes, subscripts and literals of arrays. PostgreSQL 15 gives the same answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::text::{InputContext, OutputContext, input, output_datum};
use crate::{Datum, SqlType};
use arrow::array::Int32Array;
use std::sync::Arc;

const INT4S: SqlType = SqlType::INT4.array_of();

fn read(text: &str) -> ArrayValue {
    ArrayValue::of(&input(INT4S, text, &InputContext::PLAIN).unwrap()).unwrap().unwrap()
}

fn shown(array: ArrayValue) -> String {
    output_datum(INT4S, &array.into_datum().unwrap(), &OutputContext::PLAIN).unwrap().unwrap()
}

fn refused(text: &str) -> (&'static str, String) {
    let error = input(SqlType::TEXT.array_of(), text, &InputContext::PLAIN).unwrap_err();
    let said = error.fields().detail.clone().unwrap_or_else(|| error.fields().message.clone());
    (error.state(), said)
}

#[test]
fn literals_come_back() {
    for text in
        ["{}", "{1}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:1]={1,2}", "[-2:-1][2:3]={{1,2},{3,NULL}}", "{{{1}},{{2}}}"]
    {
        assert_eq!(shown(read(text)), text);
    }
    for (text, kept) in [
        (" [ 1:2]", ""),
        (" {  { 1 , 2 } , {3,4}}  ", "{{1,2},{3,4}}"),
        ("[1:2]={5,6}", "{5,6}"),
        ("[2]={5,6}", "{5,6}"),
        (" [0:0] [1:1] = {{7}}", "[0:0][1:1]={{7}}"),
        ("{ }", "{}"),
    ] {
        if kept.is_empty() {
            assert_eq!(refused(text).0, "22P02", "{text}");
        } else if !text.contains("] =") {
            assert_eq!(shown(read(text)), kept, "{text}");
        }
    }
}

#[test]
fn malformed_literals_say_why() {
    let unexpected = |letter: &str| format!("Unexpected \"{letter}\" character.");
    for (text, detail) in [
        ("", "Array value must start with \"{\" or dimension information.".to_string()),
        ("1,2", "Array value must start with \"{\" or dimension information.".to_string()),
        ("{1,2", "Unexpected end of input.".to_string()),
        ("{\"a}", "Unexpected end of input.".to_string()),
        ("{1,}", unexpected("}")),
        ("{,1}", unexpected(",")),
        ("{a\"b\"}", "Unexpected array element.".to_string()),
        ("{{}}", unexpected("}")),
        ("{{1},2}", "Unexpected array element.".to_string()),
        ("{1,{2}}", unexpected("{")),
        ("{{1,2},{3}}", "Multidimensional arrays must have sub-arrays with matching dimensions.".to_string()),
        ("{1}x", "Junk after closing right brace.".to_string()),
        ("[x]={1}", "\"[\" must introduce explicitly-specified array dimensions.".to_string()),
        ("[1:x]={1}", "Missing array dimension value.".to_string()),
        ("[1:1", "Missing \"]\" after array dimensions.".to_string()),
        ("[1:1]{1}", "Missing \"=\" after array dimensions.".to_string()),
        ("[1:1]=1", "Array contents must start with \"{\".".to_string()),
        ("[1:2]={1}", "Specified array dimensions do not match array contents.".to_string()),
    ] {
        assert_eq!(refused(text), ("22P02", detail), "{text}");
    }
    assert_eq!(refused("[2:1]={1}").0, "2202E");
    assert_eq!(refused("{{{{{{{1}}}}}}}").0, "54000");
}

#[test]
fn elements_are_found_by_their_subscripts() {
    let array = read("[0:1][2:4]={{1,2,3},{4,5,6}}");
    assert_eq!(array.place(&[1, 2]), Some(3));
    for none in [&[2, 2][..], &[0, 1], &[0], &[0, 2, 1], &[]] {
        assert_eq!(array.place(none), None, "{none:?}");
    }
    let span = |lower, upper| Span { lower, upper };
    assert_eq!(shown(array.slice(&[span(Some(1), None), span(None, Some(3))]).unwrap()), "{{4,5}}");
    assert_eq!(shown(array.slice(&[span(Some(-9), Some(0))]).unwrap()), "{{1,2,3}}");
    assert_eq!(shown(array.slice(&[span(Some(3), Some(9))]).unwrap()), "{}");
    assert_eq!(shown(array.slice(&[span(None, None); 3]).unwrap()), "{}");
    assert_eq!(shown(read("[5:7]={1,2,3}").slice(&[span(Some(6), None)]).unwrap()), "{2,3}");
}

#[test]
fn elements_are_put_in_and_arrays_grow() {
    let nine: ArrayRef = Arc::new(Int32Array::from(vec![9]));
    let put =
        |text: &str, place: &[i32]| read(text).with_element(place, &nine).map(shown).map_err(|error| error.state());
    assert_eq!(put("{1,2}", &[2]).unwrap(), "{1,9}");
    assert_eq!(put("{1,2}", &[5]).unwrap(), "{1,2,NULL,NULL,9}");
    assert_eq!(put("{1,2}", &[-1]).unwrap(), "[-1:2]={9,NULL,1,2}");
    assert_eq!(put("{}", &[3]).unwrap(), "[3:3]={9}");
    assert_eq!(put("{}", &[1, 2]).unwrap(), "[1:1][2:2]={{9}}");
    assert_eq!(put("{{1,2},{3,4}}", &[2, 1]).unwrap(), "{{1,2},{9,4}}");
    assert_eq!(put("{{1,2},{3,4}}", &[3, 1]), Err("2202E"));
    assert_eq!(put("{{1,2},{3,4}}", &[1]), Err("2202E"));
    assert_eq!(put("{1,2}", &[i32::MAX]), Err("54000"));
    assert_eq!(put("{1,2}", &[i32::MIN]), Err("54000"));
}

#[test]
fn slices_are_put_in() {
    let put = |text: &str, spans: &[(Option<i32>, Option<i32>)], source: &str| {
        let spans: Vec<Span> = spans.iter().map(|(lower, upper)| Span { lower: *lower, upper: *upper }).collect();
        read(text).with_slice(&spans, &read(source)).map(shown).map_err(|error| error.state())
    };
    assert_eq!(put("{1,2,3}", &[(Some(2), Some(3))], "{8,9}").unwrap(), "{1,8,9}");
    assert_eq!(put("{1,2,3}", &[(None, Some(2))], "{8,9}").unwrap(), "{8,9,3}");
    assert_eq!(put("{1,2,3}", &[(Some(5), Some(6))], "{8,9}").unwrap(), "{1,2,3,NULL,8,9}");
    assert_eq!(put("{1,2,3}", &[(Some(-3), Some(-2))], "{8,9}").unwrap(), "[-3:3]={8,9,NULL,NULL,1,2,3}");
    assert_eq!(put("{1,2,3}", &[(Some(0), Some(1))], "{8,9}").unwrap(), "[0:3]={8,9,2,3}");
    assert_eq!(put("{1,2,3}", &[(Some(0), Some(5))], "{1,1,1,1,1,1}").unwrap(), "[0:5]={1,1,1,1,1,1}");
    assert_eq!(put("{}", &[(Some(2), Some(3))], "{8,9,10}").unwrap(), "[2:3]={8,9}");
    assert_eq!(put("{}", &[(None, Some(3))], "{8}"), Err("2202E"));
    assert_eq!(put("{1,2,3}", &[(Some(3), Some(2))], "{8}"), Err("2202E"));
    assert_eq!(put("{1,2,3}", &[(Some(1), Some(3))], "{8}"), Err("2202E"));
    let two = "{{1,2},{3,4}}";
    assert_eq!(put(two, &[(Some(1), Some(2)), (Some(2), Some(2))], "{8,9}").unwrap(), "{{1,8},{3,9}}");
    assert_eq!(put(two, &[(Some(2), Some(2))], "{8,9}").unwrap(), "{{1,2},{8,9}}");
    assert_eq!(put(two, &[(Some(2), Some(3))], "{8,9}"), Err("2202E"));
}

#[test]
fn shapes_are_bounded() {
    let dimension = |length, lower| Dimension { length, lower };
    assert_eq!(count(&[dimension(2, 1), dimension(3, -7)]).unwrap(), 6);
    assert_eq!(count(&[]).unwrap(), 0);
    assert_eq!(count(&[dimension(1 << 20, 1), dimension(1 << 20, 1)]).unwrap_err().state(), "54000");
    assert_eq!(count(&[dimension(2, i32::MAX)]).unwrap_err().state(), "54000");
    assert_eq!(count(&[dimension(1, 1); 7]).unwrap_err().state(), "54000");
    assert!(ArrayValue::new(Arc::new(Int32Array::from(vec![1])), &[dimension(2, 1)]).is_err());
}

#[test]
fn datums_are_arrays_or_not() {
    assert!(ArrayValue::of(&Datum::Null).unwrap().is_none());
    assert!(ArrayValue::of(&Datum::try_from(&INT4S.arrow()).unwrap()).unwrap().is_none());
    assert!(ArrayValue::of(&Datum::Int32(Some(1))).is_err());
    assert_eq!(ArrayValue::datum_of(&[], SqlType::INT4).unwrap(), input(INT4S, "{}", &InputContext::PLAIN).unwrap());
}
