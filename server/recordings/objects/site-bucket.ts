import { randomBytes, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { ObjectProblem } from '../../../shared/recordings/object-storage.ts'
import { streamOfPath } from '../../../shared/recordings/segment-path.ts'
import { type Segment, segmentEnds, type SegmentFacts } from '../../../shared/recordings/segment.ts'
import type { NodeLogger } from '../../nodes/port/node-failure.ts'
import type { Store } from '../../store/store.ts'
import { factsOf } from '../index/recorded-files.ts'
import type { StoredIndex } from '../index/stored-index.ts'
import type { ByteSource } from '../playback/byte-source.ts'
import type { RemoteSegments } from '../playback/segment-sources.ts'
import type { IndexedSegment } from '../recording-index.ts'
import { isOwnMark, markName, parsedMark, siteMark } from '../site-mark.ts'
import type { ListedObject, ListedPage, ObjectClient } from './object-client.ts'
import { ObjectError } from './object-error.ts'

/** Place for which the mark of a bucket and prefix is sealed. */
const place = ['recordings', 'objects']
/** Name of the index's fact that contains the bucket whose objects are all in the index. */
const readFact = 'bucket_read'
/** Object with the id of the index that used the bucket last. Each controller of the site has its own index. */
const lastIndexName = 'roomdesk-index.json'
/** Name of the index's fact that contains the id of the index. */
const indexIdFact = 'index_id'
/** Number of objects whose metadata is read at the same time. */
const atOnce = 4
/**
 * Number of bytes at the beginning of an object that contain the metadata of its segment. One request reads these bytes
 * and the object's metadata.
 */
const headBytes = 64 * 1024

/** Returns the values of a segment for the metadata of its object, because the file does not contain these values. */
export function objectFacts({ endedAt, end }: Pick<Segment, 'endedAt' | 'end'>): Record<string, string> {
  return { 'ended-at': String(endedAt), end }
}

/**
 * Marks a bucket as belonging to this site, unless the bucket is already marked. @throws ObjectError `otherSite` and
 * others
 */
export async function claimBucket(
  client: ObjectClient,
  store: Pick<Store, 'seal' | 'unseal'>,
  signal: AbortSignal,
): Promise<void> {
  if (await checkMark(client, store, signal)) return
  const mark = `${JSON.stringify(siteMark(place, store))}\n`
  await client.putBytes(markName, Buffer.from(mark), signal)
}

/**
 * Reads the mark of a bucket.
 * @returns true: the mark is of this site; false: no mark
 * @throws ObjectError `otherSite` and others
 */
async function checkMark(client: ObjectClient, store: Pick<Store, 'unseal'>, signal: AbortSignal): Promise<boolean> {
  const text = await smallText(client, markName, signal)
  if (text === undefined) return false
  if (!isOwnMark(parsedMark(text), place, store)) throw new ObjectError('otherSite')
  return true
}

/** Reads a small object; undefined if it does not exist. @throws ObjectError */
async function smallText(client: ObjectClient, name: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await client.read(name, 0, 4_096, signal)).bytes.toString('utf8')
  } catch (error) {
    if (error instanceof ObjectError && error.problem === 'missing') return undefined
    throw error
  }
}

export interface ReadBucketDependencies {
  client: ObjectClient
  index: StoredIndex
  remote: RemoteSegments
  /** Text that identifies endpoint, bucket and prefix. */
  bucket: string
  signal: AbortSignal
  logger: NodeLogger
}

/**
 * Adds every segment of the bucket to the index: otherwise, the loss of an index would also lose segments that are only
 * in the bucket. Does nothing if this index has read the bucket and no other index has used it since.
 * @returns number of added segments
 * @throws ObjectError; reason of the signal
 */
export async function readBucket({
  client,
  index,
  remote,
  bucket,
  signal,
  logger,
}: ReadBucketDependencies): Promise<number> {
  const own = index.places.fact(indexIdFact) ?? randomUUID()
  const last = await smallText(client, lastIndexName, signal)
  if (index.places.fact(readFact) === bucket && last === own) return 0
  index.places.setFact(indexIdFact, own)
  // An interrupted read starts from the beginning.
  index.places.setFact(readFact, '')
  await client.putBytes(lastIndexName, Buffer.from(own), signal)
  let after: string | undefined
  let added = 0
  do {
    const page: ListedPage = await client.list(after, signal)
    const unknown = page.objects.filter((object) => streamOfPath(object.name) !== undefined && !isKnown(index, object))
    for (let from = 0; from < unknown.length; from += atOnce) {
      const found = await Promise.all(
        unknown.slice(from, from + atOnce).map((object) => readObject(client, remote, object, signal, logger)),
      )
      for (const segment of found) {
        if (segment === undefined) continue
        index.writer.ended(segment, false, 'remote')
        added += 1
      }
      await setImmediate()
    }
    after = page.next
  } while (after !== undefined)
  index.places.setFact(readFact, bucket)
  return added
}

/** Whether a segment is in the index. If so, marks the segment as being in the storage, too. */
function isKnown(index: StoredIndex, { name, bytes }: ListedObject): boolean {
  const found = streamOfPath(name)
  if (found === undefined) return false
  const { startedAt, ...stream } = found
  const near = index.segments({ ...stream, from: startedAt - 1, to: startedAt + 2, limit: 10 })
  const known: IndexedSegment | undefined = near.find(({ file }) => file === name)
  if (known === undefined) return false
  if (known.stored === 'local' && known.bytes === bytes) index.writer.ended(known, false, 'remote')
  return true
}

/** Reads the metadata at the beginning of an object; undefined: `head` does not contain all metadata. */
async function factsInHead(head: Buffer): Promise<SegmentFacts | undefined> {
  const source: ByteSource = {
    read: async (buffer, offset, length, position) =>
      await Promise.resolve({ bytesRead: head.copy(buffer, offset, position, position + length) }),
    close: async () => {},
  }
  return await factsOf(source, head.length)
}

/** Reads the metadata of an object from any position. @throws ObjectError */
async function factsInWhole(remote: RemoteSegments, { name, bytes }: ListedObject): Promise<SegmentFacts | undefined> {
  const source = await remote.open(name, bytes)
  try {
    return await factsOf(source, bytes)
  } finally {
    await source.close()
  }
}

/** Reads the metadata of a segment from its object; undefined: the object is not a recording. */
async function readObject(
  client: ObjectClient,
  remote: RemoteSegments,
  object: ListedObject,
  signal: AbortSignal,
  logger: NodeLogger,
): Promise<Segment | undefined> {
  const { name, bytes } = object
  const { facts: metadata, bytes: head } = await client.read(name, 0, headBytes, signal)
  const facts = (await factsInHead(head)) ?? (head.length < bytes ? await factsInWhole(remote, object) : undefined)
  const endedAt = Number(metadata['ended-at'])
  if (facts === undefined || !(endedAt >= facts.startedAt)) {
    logger.warn({ object: name }, 'object is not a recording: not indexed')
    return undefined
  }
  const end = segmentEnds.find((each) => each === metadata.end) ?? 'length'
  return { ...facts, file: name, endedAt, bytes, end }
}

/** Steps of a test, in order. */
type ConnectionStep = 'list' | 'put' | 'get' | 'delete'

export interface ConnectionResult {
  /** Problem of the failed step; null: all steps succeeded. */
  problem: ObjectProblem | null
  /** Step that failed; null if none failed. */
  step: ConnectionStep | null
  /** Error name of the service, e.g. `AccessDenied`. */
  detail: string
  /** Duration of all steps, in milliseconds. */
  ms: number
}

const probeBytes = 4_096
const deadlineMs = 30_000

/**
 * Tests all operations that recordings need: lists the bucket, stores a small object, reads a part of the object and
 * deletes it. Also reports a bucket that belongs to another site. Never rejects.
 * @param site store of this site, for checking the mark of the bucket
 */
export async function testObjectStorage(client: ObjectClient, site: Pick<Store, 'unseal'>): Promise<ConnectionResult> {
  const began = performance.now()
  const signal = AbortSignal.timeout(deadlineMs)
  const name = `.roomdesk-test-${randomUUID()}`
  const bytes = randomBytes(probeBytes)
  let step: ConnectionStep = 'list'
  const result = (error: ObjectError | undefined): ConnectionResult => ({
    problem: error?.problem ?? null,
    step: error === undefined ? null : step,
    detail: error?.detail ?? '',
    ms: Math.round(performance.now() - began),
  })
  try {
    await client.list(undefined, signal, 1)
    await checkMark(client, site, signal)
    step = 'put'
    await client.putBytes(name, bytes, signal)
    step = 'get'
    const part = await client.read(name, 1_000, 100, signal)
    if (!part.bytes.equals(bytes.subarray(1_000, 1_100)) || part.size !== probeBytes) throw new ObjectError('mismatch')
    step = 'delete'
    await client.delete(name, signal)
    return result(undefined)
  } catch (error) {
    // Only the first error is reported.
    if (step === 'get') await client.delete(name).catch(() => {})
    return result(error instanceof ObjectError ? error : new ObjectError('silent'))
  }
}
