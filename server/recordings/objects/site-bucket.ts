import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type Segment, segmentEnds, type SegmentFacts } from '../../../shared/recordings/segment.ts'
import { streamOfPath } from '../../../shared/recordings/segment-path.ts'
import type { NodeLogger } from '../../nodes/port/node-failure.ts'
import type { Store } from '../../store/store.ts'
import { factsOf } from '../files/segment-facts.ts'
import type { ByteSource } from '../playback/byte-source.ts'
import type { StoredIndex } from '../index/stored-index.ts'
import type { IndexedSegment } from '../recording-index.ts'
import { isOwnMark, markName, parsedMark, siteMark } from '../site-mark.ts'
import type { RemoteSegments } from '../playback/segment-sources.ts'
import type { ListedObject, ListedPage, ObjectClient } from './object-client.ts'
import { ObjectError } from './object-error.ts'

/** Place that the mark of a bucket and prefix is sealed for. */
const place = ['recordings', 'objects']
/** Fact of the index: the bucket whose objects are all in it. */
const readFact = 'bucket_read'
/** Object that names the index which used the bucket last: another controller of the site has one of its own. */
const lastIndexName = 'roomdesk-index.json'
/** Fact of the index: its own name. */
const indexIdFact = 'index_id'
/** Objects whose facts are read at the same time. */
const atOnce = 4
/** Beginning of an object that holds the facts of its segment, in bytes: it is read with the metadata, in one request. */
const headBytes = 64 * 1024

/** Facts of a segment that are in the metadata of its object, because its file does not hold them. */
export function objectFacts({ endedAt, end }: Pick<Segment, 'endedAt' | 'end'>): Record<string, string> {
  return { 'ended-at': String(endedAt), end }
}

/** Makes a bucket this site's, unless it is. @throws ObjectError otherSite and others */
export async function claimBucket(
  client: ObjectClient,
  store: Pick<Store, 'seal' | 'unseal'>,
  signal: AbortSignal,
): Promise<void> {
  if (await checkMark(client, store, signal)) return
  const mark = `${JSON.stringify(siteMark(place, store))}\n`
  await client.putBytes(markName, Buffer.from(mark), signal)
}

/** Reads the mark of a bucket. @returns whether there is one; it is this site's @throws ObjectError otherSite and others */
export async function checkMark(
  client: ObjectClient,
  store: Pick<Store, 'unseal'>,
  signal: AbortSignal,
): Promise<boolean> {
  const text = await smallText(client, markName, signal)
  if (text === undefined) return false
  if (!isOwnMark(parsedMark(text), place, store)) throw new ObjectError('otherSite')
  return true
}

/** Reads a small object; undefined: there is none. @throws ObjectError */
async function smallText(client: ObjectClient, name: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await client.read(name, 0, 4_096, signal)).bytes.toString('utf8')
  } catch (error) {
    if (error instanceof ObjectError && error.problem === 'missing') return undefined
    throw error
  }
}

/** Needs of reading a bucket. */
export interface ReadBucketParts {
  client: ObjectClient
  index: StoredIndex
  remote: RemoteSegments
  /** Names the bucket and prefix. */
  bucket: string
  signal: AbortSignal
  logger: NodeLogger
}

/**
 * Adds every segment of the bucket to the index: what is only there would be lost with the index otherwise. Does nothing if this index has them already, and no other one of the site used the
 * bucket since.
 * @returns number of segments that were added
 * @throws ObjectError; the signal's reason
 */
export async function readBucket({ client, index, remote, bucket, signal, logger }: ReadBucketParts): Promise<number> {
  const own = index.fact(indexIdFact) ?? randomUUID()
  const last = await smallText(client, lastIndexName, signal)
  if (index.fact(readFact) === bucket && last === own) return 0
  index.setFact(indexIdFact, own)
  // A start that ends in the middle reads everything again.
  index.setFact(readFact, '')
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
        index.ended(segment, false, 'remote')
        added += 1
      }
      await setImmediate()
    }
    after = page.next
  } while (after !== undefined)
  index.setFact(readFact, bucket)
  return added
}

/** Whether a segment is in the index; then it is in the storage, too. */
function isKnown(index: StoredIndex, { name, bytes }: ListedObject): boolean {
  const found = streamOfPath(name)
  if (found === undefined) return false
  const { startedAt, ...stream } = found
  const near = index.segments({ ...stream, from: startedAt - 1, to: startedAt + 2, limit: 10 })
  const known: IndexedSegment | undefined = near.find(({ file }) => file === name)
  if (known === undefined) return false
  if (known.stored === 'local' && known.bytes === bytes) index.ended(known, false, 'remote')
  return true
}

/** Reads the facts in the beginning of an object; undefined: they are not there. */
async function factsInHead(head: Buffer): Promise<SegmentFacts | undefined> {
  const source: ByteSource = {
    read: async (buffer, offset, length, position) =>
      await Promise.resolve({ bytesRead: head.copy(buffer, offset, position, position + length) }),
    close: async () => {},
  }
  return await factsOf(source, head.length)
}

/** Reads the facts in an object, wherever in it they are. @throws ObjectError */
async function factsInWhole(remote: RemoteSegments, { name, bytes }: ListedObject): Promise<SegmentFacts | undefined> {
  const source = await remote.open(name, bytes)
  try {
    return await factsOf(source, bytes)
  } finally {
    await source.close()
  }
}

/** Reads the facts of a segment from its object. Undefined: it is no recording. */
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
    logger.warn({ object: name }, 'an object is no recording, and is not in the index')
    return undefined
  }
  const end = segmentEnds.find((each) => each === metadata.end) ?? 'length'
  return { ...facts, file: name, endedAt, bytes, end }
}
