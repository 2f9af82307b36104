//! Parquet in an object store: `s3://`, `gs://` and `az://`, read row group by row group as files are.
//!
//! Every piece is one round of requests: the stretches of the wanted columns, those near each other as one. An object is asked for
//! in the version it was opened in, so that one which is written anew meanwhile is noticed.

use super::format::{Format, shielded};
use super::many::fits;
use super::parquet::Stretch;
use crate::error::{Error, Kind, Result};
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path as Key;
use object_store::{
    ClientConfigKey, GetOptions, OBJECT_STORE_COALESCE_DEFAULT, ObjectMeta, ObjectStore, ObjectStoreExt as _,
    RetryConfig, coalesce_ranges,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::collections::HashMap;
use std::future::Future;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Bytes from the end of an object in which its footer is looked for: larger ones take a second request.
const TAIL: u64 = 1 << 16;
/// Objects that are opened at a time.
const AT_ONCE: usize = 16;
/// How long one request may take, unless the environment says so.
const LONGEST: &str = "300 seconds";

type Store = Arc<dyn ObjectStore>;

/// An object whose footer has been read.
pub(crate) struct Object {
    store: Store,
    meta: ObjectMeta,
    provider: Provider,
    metadata: Arc<ParquetMetaData>,
}

/// Who has the objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Provider {
    Amazon,
    Google,
    Azure,
}

impl Provider {
    /// What the environment has to say, one of each row.
    fn credentials(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Amazon => &[
                &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
                &["AWS_WEB_IDENTITY_TOKEN_FILE"],
                &["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
                &["AWS_CONTAINER_CREDENTIALS_FULL_URI"],
                &["AWS_SKIP_SIGNATURE"],
            ],
            Self::Google => &[
                &["GOOGLE_APPLICATION_CREDENTIALS"],
                &["GOOGLE_SERVICE_ACCOUNT"],
                &["GOOGLE_SERVICE_ACCOUNT_PATH"],
                &["GOOGLE_SERVICE_ACCOUNT_KEY"],
                &["GOOGLE_SKIP_SIGNATURE"],
            ],
            Self::Azure => &[
                &["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"],
                &["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_SAS_KEY"],
                &["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_CLIENT_ID"],
                &["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_FEDERATED_TOKEN_FILE"],
                &["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_SKIP_SIGNATURE"],
                &["AZURE_STORAGE_USE_EMULATOR"],
            ],
        }
    }

    fn has_credentials(self) -> bool {
        let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        self.credentials().iter().any(|names| names.iter().all(set))
    }

    fn no_credentials(self) -> Error {
        let names = self.credentials().first().copied().unwrap_or_default().join(" and ");
        Error::new(Kind::Unreadable, "no credentials", format!("{names} in the environment"))
    }

    /// One sentence for what a store answered.
    fn told(self, error: &object_store::Error) -> Error {
        use object_store::Error as Said;
        let refuse = |found: String, expected: &str| Error::new(Kind::Unreadable, found, expected);
        let innermost = innermost(error);
        match error {
            _ if ["NoSuchBucket", "ContainerNotFound"].iter().any(|code| innermost.contains(code)) => {
                no_bucket()
            }
            Said::NotFound { .. } => refuse("no such object".to_owned(), "Parquet in an object store"),
            Said::Precondition { .. } => refuse(
                "an object that changed while it was read".to_owned(),
                "the same object from beginning to end",
            ),
            _ if !self.has_credentials() => self.no_credentials(),
            Said::PermissionDenied { .. } | Said::Unauthenticated { .. } => refuse(
                format!("an object store that refuses ({innermost})"),
                "credentials that may read there",
            ),
            _ => refuse(
                format!("an object store that does not answer ({innermost})"),
                "one that can be reached",
            ),
        }
    }
}

fn no_bucket() -> Error {
    Error::new(Kind::Unreadable, "no such bucket", "the name of one that exists")
}

/// The innermost of what went wrong, which the outer ones only repeat, in one line.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    let said = error.to_string();
    // Answers of servers are whole documents: what they say is in these.
    let between = |open: &str, close: &str| Some(said.split_once(open)?.1.split_once(close)?.0.to_owned());
    let code = between("<Code>", "</Code>");
    let said = match (code, between("<Message>", "</Message>")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code,
        _ => said.lines().next().unwrap_or_default().to_owned(),
    };
    said.chars().take(200).collect()
}

/// Where an address leads: who, which bucket, and which key or beginning of keys.
struct Address<'a> {
    provider: Provider,
    bucket: &'a str,
    key: &'a str,
}

impl<'a> Address<'a> {
    fn of(path: &'a Path) -> Option<Self> {
        let (scheme, rest) = path.to_str()?.split_once("://")?;
        let provider = match scheme {
            "s3" => Provider::Amazon,
            "gs" => Provider::Google,
            "az" => Provider::Azure,
            _ => return None,
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        Some(Self { provider, bucket, key })
    }

    fn with_key(&self, key: &Key) -> PathBuf {
        PathBuf::from(format!("{}{}/{key}", self.root(), self.bucket))
    }

    fn root(&self) -> &'static str {
        match self.provider {
            Provider::Amazon => "s3://",
            Provider::Google => "gs://",
            Provider::Azure => "az://",
        }
    }

    /// The store, of which there is one for every bucket: connections are kept, and so are tokens.
    fn store(&self) -> Result<Store> {
        static STORES: Mutex<Option<HashMap<(Provider, String), Store>>> = Mutex::new(None);
        if self.bucket.is_empty() {
            return Err(Error::new(Kind::Unreadable, "no bucket", "an address such as s3://bucket/folder"));
        }
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let stores = stores.get_or_insert_default();
        let name = (self.provider, self.bucket.to_owned());
        if let Some(store) = stores.get(&name) {
            return Ok(store.clone());
        }
        let store = self.connected().map_err(|error| match self.provider.has_credentials() {
            true => Error::new(
                Kind::Unreadable,
                innermost(&error),
                "settings in the environment that fit together",
            ),
            false => self.provider.no_credentials(),
        })?;
        Ok(stores.entry(name).or_insert(store).clone())
    }

    /// With what the environment says, by the names that the `object_store` crate reads.
    fn connected(&self) -> object_store::Result<Store> {
        // Somebody else may have chosen a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = format!("{}{}", self.root(), self.bucket);
        // Without credentials a machine in a cloud is asked for its own; elsewhere nobody answers, which is soon clear.
        let (max_retries, seconds) = if self.provider.has_credentials() { (5, 60) } else { (1, 3) };
        let retry =
            RetryConfig { max_retries, retry_timeout: Duration::from_secs(seconds), ..Default::default() };
        let own = |name: &str| std::env::var_os(name).is_some();
        Ok(match self.provider {
            Provider::Amazon => {
                let mut builder = AmazonS3Builder::from_env();
                if !own("AWS_TIMEOUT") {
                    builder =
                        builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), LONGEST);
                }
                Arc::new(builder.with_url(url).with_retry(retry).build()?)
            }
            Provider::Google => {
                let mut builder = GoogleCloudStorageBuilder::from_env();
                if !own("GOOGLE_TIMEOUT") {
                    builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::Timeout), LONGEST);
                }
                Arc::new(builder.with_url(url).with_retry(retry).build()?)
            }
            Provider::Azure => {
                let mut builder = MicrosoftAzureBuilder::from_env();
                if !own("AZURE_TIMEOUT") {
                    builder = builder.with_config(AzureConfigKey::Client(ClientConfigKey::Timeout), LONGEST);
                }
                Arc::new(builder.with_url(url).with_retry(retry).build()?)
            }
        })
    }

    /// The objects that are meant: the one of this name, those that fit a pattern, or those below, in the order of their names.
    fn objects(&self) -> Result<Vec<ObjectMeta>> {
        let (store, provider) = (self.store()?, self.provider);
        let star = self.key.find(['*', '?']);
        let before = star.and_then(|star| self.key.get(..star)).unwrap_or(self.key);
        let folder = match star {
            Some(_) => before.rsplit_once('/').map_or("", |(folder, _)| folder),
            None => before,
        };
        let odd = |_| Error::new(Kind::Unreadable, "an address that cannot be read", "s3://bucket/folder");
        let folder = Key::parse(folder.trim_end_matches('/')).map_err(odd)?;
        let pattern = star.map(|_| self.key.to_owned());
        let found = wait(async move {
            if pattern.is_none() && !folder.as_ref().is_empty() {
                match store.head(&folder).await {
                    Ok(object) => return Ok(vec![object]),
                    Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            let wanted = |object: &ObjectMeta| match &pattern {
                Some(pattern) => fits(pattern.as_bytes(), object.location.as_ref().as_bytes()),
                None => is_table(&folder, &object.location),
            };
            let listed = store.list(Some(&folder)).try_collect::<Vec<_>>().await?;
            Ok(listed.into_iter().filter(wanted).collect())
        })?;
        let mut found = found.map_err(|error| match error {
            // There is nothing to list where there is no bucket; a folder that does not exist is an empty one.
            object_store::Error::NotFound { .. } => no_bucket(),
            _ => provider.told(&error),
        })?;
        found.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(found)
    }
}

/// Whether a key below a folder is that of a table: hidden ones and those with an underscore in front are not.
fn is_table(folder: &Key, key: &Key) -> bool {
    let below = key.prefix_match(folder).into_iter().flatten();
    let parts: Vec<String> = below.map(|part| part.as_ref().to_owned()).collect();
    let named =
        parts.last().is_some_and(|name| Format::promised_by(Path::new(name)) == Some(Format::Parquet));
    named && !parts.iter().any(|part| part.starts_with(['.', '_']))
}

/// Whether a path is an address in an object store.
pub(crate) fn is_address(path: &Path) -> bool {
    Address::of(path).is_some()
}

/// The addresses of the objects behind one, all opened: they are few enough to be asked for at once.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let Some(address) = Address::of(path) else { return Ok(vec![]) };
    let objects = address.objects()?;
    let (store, provider) = (address.store()?, address.provider);
    let paths: Vec<PathBuf> = objects.iter().map(|object| address.with_key(&object.location)).collect();
    let missing: Vec<(PathBuf, ObjectMeta)> = paths
        .iter()
        .cloned()
        .zip(objects)
        .filter(|(path, _)| !opened(|all| all.contains_key(path)))
        .collect();
    let tails = wait(async move {
        let tail = |(path, meta): (PathBuf, ObjectMeta)| {
            let store = store.clone();
            async move {
                let tail = Object::tail(&store, &meta).await;
                (path, meta, tail)
            }
        };
        futures_util::stream::iter(missing).map(tail).buffered(AT_ONCE).collect::<Vec<_>>().await
    })?;
    let store = address.store()?;
    for (path, meta, tail) in tails {
        let named = |error: Error| error.file(path.display().to_string());
        let metadata = tail.map_err(|error| provider.told(&error)).and_then(Tail::read).map_err(named)?;
        let object = Object { store: store.clone(), meta, provider, metadata: Arc::new(metadata) };
        opened(|all| all.insert(path, Arc::new(object)));
    }
    Ok(paths)
}

/// An object that [`files`] has found.
pub(crate) fn open(path: &Path) -> Result<Arc<Object>> {
    let known = || opened(|all| all.get(path).cloned());
    if let Some(object) = known() {
        return Ok(object);
    }
    files(path)?;
    known().ok_or_else(|| Error::new(Kind::Unreadable, "no such object", "Parquet in an object store"))
}

/// Objects that were opened, by their addresses: whoever asks again gets the same version.
fn opened<T>(look: impl FnOnce(&mut HashMap<PathBuf, Arc<Object>>) -> T) -> T {
    static OPENED: Mutex<Option<HashMap<PathBuf, Arc<Object>>>> = Mutex::new(None);
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    look(opened.get_or_insert_default())
}

/// The end of an object, with its footer.
struct Tail {
    bytes: Bytes,
    size: u64,
}

impl Tail {
    fn read(self) -> Result<ParquetMetaData> {
        if self.size == 0 {
            return Err(Error::new(Kind::Empty, "an empty file", "a table"));
        }
        shielded(Format::Parquet, || {
            let mut reader = ParquetMetaDataReader::new();
            reader.try_parse_sized(&self.bytes, self.size)?;
            reader.finish()
        })
    }

    /// How long the end must be, where it is too short for its footer.
    fn lacks(&self) -> Option<u64> {
        let tried = shielded(Format::Parquet, || {
            Ok::<_, ParquetError>(ParquetMetaDataReader::new().try_parse_sized(&self.bytes, self.size))
        });
        match tried {
            Ok(Err(ParquetError::NeedMoreData(needed))) => Some(needed as u64),
            _ => None,
        }
    }
}

impl Object {
    async fn tail(store: &Store, meta: &ObjectMeta) -> object_store::Result<Tail> {
        let last = |bytes: u64| meta.size.saturating_sub(bytes)..meta.size;
        let mut tail = Tail { bytes: Bytes::new(), size: meta.size };
        if meta.size == 0 {
            return Ok(tail);
        }
        tail.bytes = part(store, meta, last(TAIL)).await?;
        if let Some(needed) = tail.lacks().filter(|&needed| needed <= meta.size) {
            tail.bytes = part(store, meta, last(needed)).await?;
        }
        Ok(tail)
    }

    /// What was read when it was opened.
    pub(crate) fn metadata(&self) -> Arc<ParquetMetaData> {
        self.metadata.clone()
    }

    /// Stretches of the object, as many requests at a time as is usual.
    pub(crate) fn stretches(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Stretch>> {
        let (store, meta, provider) = (self.store.clone(), self.meta.clone(), self.provider);
        let fetched = wait(async move {
            let fetch = |range: Range<u64>| part(&store, &meta, range);
            let bytes = coalesce_ranges(&ranges, fetch, OBJECT_STORE_COALESCE_DEFAULT).await?;
            let stretch = |(range, bytes): (Range<u64>, Bytes)| Stretch { start: range.start, bytes };
            Ok::<Vec<Stretch>, object_store::Error>(ranges.into_iter().zip(bytes).map(stretch).collect())
        })?;
        fetched.map_err(|error| provider.told(&error))
    }
}

/// Some bytes of the version that was found first.
async fn part(store: &Store, meta: &ObjectMeta, range: Range<u64>) -> object_store::Result<Bytes> {
    let options =
        GetOptions { range: Some(range.into()), if_match: meta.e_tag.clone(), ..Default::default() };
    store.get_opts(&meta.location, options).await?.bytes().await
}

/// Waits for what is done on the threads that requests have: whoever asks may be anywhere.
fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    static RUNTIME: LazyLock<std::io::Result<Runtime>> =
        LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build());
    let ended = |why: &dyn std::fmt::Display| {
        Error::new(
            Kind::Unreadable,
            format!("no thread for requests ({why})"),
            "a computer that has one to spare",
        )
    };
    let runtime = RUNTIME.as_ref().map_err(|error| ended(error))?;
    let (tell, told) = mpsc::channel();
    runtime.spawn(async move { drop(tell.send(work.await)) });
    told.recv().map_err(|error| ended(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let parts = |text: &str| {
            Address::of(Path::new(text)).map(|it| (it.root(), it.bucket.to_owned(), it.key.to_owned()))
        };
        let own = |root, bucket: &str, key: &str| Some((root, bucket.to_owned(), key.to_owned()));
        assert_eq!(parts("s3://b/x/y.parquet"), own("s3://", "b", "x/y.parquet"));
        assert_eq!(parts("gs://b"), own("gs://", "b", ""));
        assert_eq!(parts("az://c/"), own("az://", "c", ""));
        assert_eq!(parts("http://x/y"), None);
        assert_eq!(parts("s3/x"), None);
    }

    #[test]
    fn tables_below_a_folder_are_told_by_their_names() {
        let is = |key: &str| is_table(&Key::from("a"), &Key::from(key));
        assert!(is("a/x.parquet") && is("a/g=f/x.pq") && is("a/X.PARQUET"));
        assert!(!is("a/_SUCCESS") && !is("a/_tmp/x.parquet") && !is("a/.x.parquet") && !is("a/x.csv"));
    }

    #[test]
    fn of_an_answer_only_what_it_says_is_told() {
        let answer = "<?xml?>\n<Error><Code>NoSuchBucket</Code><Message>It is not there</Message></Error>";
        assert_eq!(innermost(&std::io::Error::other(answer)), "NoSuchBucket: It is not there");
        assert_eq!(innermost(&std::io::Error::other("one\ntwo")), "one");
    }
}
