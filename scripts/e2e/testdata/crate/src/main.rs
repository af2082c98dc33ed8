//! A box that updates itself with the crate hawkbit, like the crate's example, and prints which version it runs.
//! Arguments: the server's URL, the tenant, the box, its token, the version that it runs, the folder to install into.

use hawkbit::ddi::{Client, ClientAuthorization, Error, Execution, Finished, Reply, Type};
use std::{env, path::Path, time::Duration};
use tokio::time::sleep;

#[derive(serde::Serialize)]
struct Attributes {
    installed: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let a: Vec<String> = env::args().skip(1).collect();
    // The tests' artifact host has a certificate of an unknown authority.
    let builder = reqwest::Client::builder().danger_accept_invalid_certs(true);
    let auth = ClientAuthorization::TargetToken(a[3].clone());
    let client = Client::new_from_client_builder(&a[0], &a[1], &a[2], auth, builder)?;
    loop {
        let wait = match client.poll().await {
            Ok(reply) => {
                if let Err(e) = act(&reply, &a[4], Path::new(&a[5])).await {
                    println!("failed: {e}");
                }
                reply.polling_sleep()?
            }
            Err(e) => {
                println!("no poll: {e}");
                Duration::from_secs(1)
            }
        };
        sleep(wait).await;
    }
}

async fn act(reply: &Reply, runs: &str, place: &Path) -> Result<(), Error> {
    if let Some(request) = reply.config_data_request() {
        let data = Attributes { installed: runs.to_string() };
        request.upload(Execution::Closed, Finished::Success, None, data, vec![]).await?;
    }
    if let Some(update) = reply.update() {
        let update = update.fetch().await?;
        if update.update_type() == Type::Skip {
            return Ok(());
        }
        update.send_feedback(Execution::Proceeding, Finished::None, vec!["Downloading"]).await?;
        for artifact in update.download(place).await? {
            if let Err(e) = artifact.check_md5().await {
                let words = e.to_string();
                update.send_feedback(Execution::Closed, Finished::Failure, vec![words.as_str()]).await?;
                return Err(e);
            }
            println!("written: {}", artifact.file().display());
        }
        update.send_feedback(Execution::Closed, Finished::Success, vec![]).await?;
    }
    if let Some(cancel) = reply.cancel_action() {
        println!("given up: {}", cancel.id().await?);
        cancel.send_feedback(Execution::Closed, Finished::Success, vec![]).await?;
    }
    Ok(())
}
