//! Measures what the client costs: questions a second against a server that answers at once, and the memory of the process (server
//! included). `cargo run --release -p cwm-answer --example overhead [QUESTIONS [CONNECTIONS]]`

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use cwm_answer::Answer;
use cwm_contract::Value;
use cwm_contract::testing::Trial;

const ANSWER: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"FINAL ANSWER: e2e4\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn serve(stream: TcpStream) -> std::io::Result<()> {
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone()?), stream);
    loop {
        let (mut length, mut is_question) = (0, false);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            is_question |= line.starts_with("POST");
            let lower = line.to_ascii_lowercase();
            length = lower.strip_prefix("content-length: ").and_then(|rest| rest.trim().parse().ok()).unwrap_or(length);
            if line.trim().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length])?;
        let body = if is_question { ANSWER } else { "{}" };
        write!(writer, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|number| number.parse()).collect::<Result<_, _>>()?;
    let (questions, connections) = (*numbers.first().unwrap_or(&20_000), *numbers.get(1).unwrap_or(&64));
    let folder = std::env::temp_dir().join(format!("cwm-overhead-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let items = folder.join("items.jsonl");
    let mut lines = String::new();
    for number in 0..questions {
        let text = "x".repeat(1_000);
        lines += &format!(
            "{{\"task_id\":\"{number}\",\"task_type\":\"motifs_pin\",\"task_category\":\"Motifs\",\"input\":\"8/8/8/8/8/8/8/8 w - - 0 1\",\
             \"question\":\"{text}\",\"format_examples\":[\"a\",\"b\"],\"correct_answer\":\"a\",\"answer_type\":\"multi\",\"metadata\":{{}}}}\n"
        );
    }
    std::fs::write(&items, lines)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    std::thread::spawn(move || listener.incoming().for_each(|stream| drop(std::thread::spawn(|| serve(stream?)))));
    for player in ["oracle", "server"] {
        let begun = Instant::now();
        let outcome = Trial::new(folder.join(player))
            .input("items", &items)
            .with("player", Value::Text(player.to_owned()))
            .with("model", Value::Text("m".to_owned()))
            .with("url", Value::Text(url.clone()))
            .with("connections", Value::Int(connections as i128))
            .run(&Answer);
        outcome.map_err(|failure| failure.message)?;
        let rate = questions as f64 / begun.elapsed().as_secs_f64();
        println!("{player}: {rate:.0} questions a second, {connections} connections");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    Ok(std::fs::remove_dir_all(folder)?)
}
