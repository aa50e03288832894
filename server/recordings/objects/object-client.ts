import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ObjectStorageSettings } from '../../../shared/settings/recording.ts'
import { part, parts, textAt, xmlTree } from '../../edge/xml-tree.ts'
import { ObjectError, problemOfRequest } from './object-error.ts'
import { ObjectRequests, type RequestLimits } from './object-request.ts'

interface Digests {
  /** SHA-256, in hex. */
  sha256: string
  md5: Buffer
  bytes: number
}

/** Part of an object, with metadata of the whole object. */
export interface ObjectPart {
  bytes: Buffer
  /** Size of the whole object in bytes. */
  size: number
  /** Values of `x-amz-meta-…` headers, by the part after this prefix. */
  facts: Readonly<Record<string, string>>
}

/** Maximum size of a response held in memory, in bytes. */
const maxPart = 8 * 1024 * 1024
const types: Readonly<Record<string, string>> = {
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.json': 'application/json',
}
const factPrefix = 'x-amz-meta-'

/**
 * Stores, reads, deletes and lists the objects of one bucket, below the prefix in its settings. Object names are paths
 * relative to the recordings folder.
 */
export class ObjectClient {
  readonly #requests: ObjectRequests
  readonly #prefix: string

  constructor(settings: ObjectStorageSettings, sitePorts: () => readonly number[], limits?: RequestLimits) {
    this.#requests = new ObjectRequests(settings, sitePorts, limits)
    this.#prefix = settings.prefix
  }

  /**
   * Uploads a file and verifies that the storage contains the same bytes: the storage checks MD5 and SHA-256, and this
   * function compares ETag and size.
   * @param open opens a file inside a folder of this program
   * @param facts short ASCII values stored as metadata
   * @throws ObjectError; Error of the disk with its code; AbortError
   */
  async putFile(
    name: string,
    open: () => Promise<FileHandle>,
    facts: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<void> {
    const digests = await digestsOf((await open()).createReadStream())
    const file = await open()
    let isRead = false
    try {
      const body = (): Readable => {
        isRead = true
        // The stream closes the file when the request ends.
        return file.createReadStream()
      }
      await this.#put(name, digests, body, facts, signal)
    } finally {
      if (!isRead) await file.close()
    }
  }

  /** Uploads bytes; see `putFile`. */
  async putBytes(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    await this.#put(name, await digestsOf(Readable.from([bytes])), () => Readable.from([bytes]), {}, signal)
  }

  /**
   * Reads a part of an object; at the end of the object, fewer bytes than requested. @throws ObjectError `missing` and
   * others; AbortError
   */
  async read(name: string, offset: number, bytes: number, signal?: AbortSignal): Promise<ObjectPart> {
    const headers = { range: `bytes=${offset}-${offset + Math.min(bytes, maxPart) - 1}` }
    const answer = await this.#requests.send({ method: 'GET', key: this.#key(name), headers, signal })
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(answer.headers['content-range'] ?? '')
    if (answer.statusCode !== 206 || range === null || Number(range[1]) !== offset) {
      answer.destroy()
      throw new ObjectError('noService', 'no range')
    }
    const found = await collected(answer, maxPart, signal)
    if (found.length !== Number(range[2]) - offset + 1) throw new ObjectError('mismatch', 'length')
    const facts = Object.entries(answer.headers).flatMap(([field, value]) =>
      field.startsWith(factPrefix) && typeof value === 'string' ? [[field.slice(factPrefix.length), value]] : [],
    )
    return { bytes: found, size: Number(range[3]), facts: Object.fromEntries(facts) as Record<string, string> }
  }

  /** Deletes an object; a missing object is ignored. @throws ObjectError */
  async delete(name: string, signal?: AbortSignal): Promise<void> {
    try {
      const answer = await this.#requests.send({ method: 'DELETE', key: this.#key(name), signal })
      answer.resume()
    } catch (error) {
      if (!(error instanceof ObjectError) || error.problem !== 'missing') throw error
    }
  }

  /**
   * Lists one page of objects in the order of their names.
   * @param after `next` of the previous page
   * @throws ObjectError
   */
  async list(after: string | undefined, signal?: AbortSignal, limit = pageOfObjects): Promise<ListedPage> {
    const query = new URLSearchParams({ 'list-type': '2', 'max-keys': String(limit), 'encoding-type': 'url' })
    if (this.#prefix !== '') query.set('prefix', this.#prefix)
    if (after !== undefined) query.set('start-after', this.#key(after))
    // Signatures require %20 for a space.
    const request = { method: 'GET', key: '', query: query.toString().replaceAll('+', '%20'), signal } as const
    const answer = await this.#requests.send(request)
    const listing = readListing((await collected(answer, maxPart, signal)).toString('utf8'), this.#prefix)
    if (listing === undefined) throw new ObjectError('noService', 'no listing')
    return listing
  }

  /** Closes idle connections. */
  close(): void {
    this.#requests.close()
  }

  async #put(
    name: string,
    { sha256, md5, bytes }: Digests,
    body: () => Readable,
    facts: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const key = this.#key(name)
    const metadata = Object.fromEntries(Object.entries(facts).map(([field, value]) => [`${factPrefix}${field}`, value]))
    const headers = {
      ...metadata,
      'content-length': String(bytes),
      'content-md5': md5.toString('base64'),
      'content-type': types[name.slice(name.lastIndexOf('.'))] ?? 'application/octet-stream',
    }
    const answer = await this.#requests.send({ method: 'PUT', key, headers, bodySha256: sha256, body, signal })
    answer.resume()
    checkTag(answer.headers, md5)
    const held = await this.#requests.send({ method: 'HEAD', key, signal })
    held.resume()
    const length = Number(held.headers['content-length'])
    if (length !== bytes) throw new ObjectError('mismatch', `${length} of ${bytes} bytes`)
    checkTag(held.headers, md5)
  }

  #key(name: string): string {
    return `${this.#prefix}${name}`
  }
}

/**
 * Compares an ETag with an MD5. The ETag is the MD5 of the object unless the service encrypts with its own keys
 * (docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html).
 */
function checkTag({ etag = '', ...headers }: Readonly<Record<string, string | string[] | undefined>>, md5: Buffer) {
  const encryption = String(headers['x-amz-server-side-encryption'] ?? '')
  const isDigest = /^"?[0-9a-f]{32}"?$/i.test(String(etag)) && !encryption.startsWith('aws:kms')
  if (isDigest && String(etag).replaceAll('"', '').toLowerCase() !== md5.toString('hex'))
    throw new ObjectError('mismatch', 'ETag')
}

async function digestsOf(stream: Readable): Promise<Digests> {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')]
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    sha256.update(chunk)
    md5.update(chunk)
    bytes += chunk.length
  }
  return { sha256: sha256.digest('hex'), md5: md5.digest(), bytes }
}

async function collected(answer: Readable, limit: number, signal: AbortSignal | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of answer as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > limit) throw new ObjectError('noService', 'too long')
      chunks.push(chunk)
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw problemOfRequest(error)
  }
  return Buffer.concat(chunks)
}

export interface ListedObject {
  /** Name without the prefix. */
  name: string
  bytes: number
}

export interface ListedPage {
  objects: ListedObject[]
  /** Name after which the next page starts; undefined on the last page. */
  next: string | undefined
}

/** Number of objects per page. A name has at most 1,024 bytes, each encoded as up to three characters. */
const pageOfObjects = 250
/** Maximum length of a page, in characters. */
const maxPage = 1_000_000

/**
 * Parses a response of ListObjectsV2 with `encoding-type=url`
 * (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html). Returns undefined if the text has another form, or
 * is longer than `maxPage`.
 * @param prefix removed from names
 */
export function readListing(xml: string, prefix: string): ListedPage | undefined {
  const result = part(xmlTree(xml, maxPage), 'ListBucketResult')
  if (result === undefined) return undefined
  const objects: ListedObject[] = []
  for (const content of parts(result, 'Contents')) {
    const key = decoded(textAt(content, 'Key'))
    const bytes = Number(textAt(content, 'Size') || Number.NaN)
    if (key !== undefined && key.startsWith(prefix) && Number.isSafeInteger(bytes))
      objects.push({ name: key.slice(prefix.length), bytes })
  }
  const isTruncated = textAt(result, 'IsTruncated') === 'true'
  return { objects, next: isTruncated ? objects.at(-1)?.name : undefined }
}

/** Decodes a key; undefined if it is not percent-encoded text. */
function decoded(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
