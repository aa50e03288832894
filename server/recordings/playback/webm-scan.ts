import type { HeaderReader } from './byte-source.ts'
import type { FragmentTrack, KeyFrameRange, Scan, ScanState } from './fragments.ts'

/** Element ids (RFC 9559, section 5.1). */
const ids = {
  header: 0x1a45_dfa3,
  segment: 0x1853_8067,
  info: 0x1549_a966,
  tickNanoseconds: 0x2a_d7b1,
  tracks: 0x1654_ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecPrivate: 0x63a2,
  cluster: 0x1f43_b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  referenceBlock: 0xfb,
} as const
/** Elements inside a cluster; any other element ends a cluster of unknown size. */
const inCluster: ReadonlySet<number> = new Set([ids.timestamp, ids.simpleBlock, ids.blockGroup, 0xa7, 0xab, 0xec, 0xbf])
/** Maximum size of an element that is read completely, in bytes. */
const maxHeader = 1024 * 1024
/** Maximum size of an element header together with the header of its block, in bytes. */
const headerBytes = 24

interface Element {
  id: number
  /** Position of the content. */
  content: number
  /** Size of the content in bytes; undefined: unknown, the content ends at the next element of its level. */
  size: number | undefined
}

/**
 * Reads the headers of all clusters and blocks, and skips pictures and sounds. A cluster of unknown size ends where the
 * next cluster starts.
 */
export const scanWebm: Scan = async (reader, state, ended) => {
  let at = state.next
  let cluster: Cluster | undefined
  while (at < reader.size) {
    const element = await elementAt(reader, at)
    if (element === undefined) break
    const { id, content, size } = element
    if (cluster !== undefined && !inCluster.has(id)) {
      close(cluster, at, state)
      cluster = undefined
    }
    if (id === ids.segment) {
      at = content
      continue
    }
    if (id === ids.cluster) {
      if (state.init.bytes === 0) state.init = { offset: 0, bytes: at }
      cluster = { offset: at, start: 0, times: [], keyFrames: [], samples: 0, unsizedHeader: undefined }
      if (size === undefined) cluster.unsizedHeader = content - at
      // If this cluster is incomplete, the next scan starts from it.
      state.next = at
      at = content
      continue
    }
    if (size === undefined || content + size > reader.size) break
    if (cluster !== undefined) await readInCluster(reader, element, cluster, state)
    else if (id === ids.info || id === ids.tracks) readHeader(id, await wholeOf(reader, content, size), state)
    at = content + size
    if (cluster === undefined) state.next = at
  }
  if (!ended) return
  if (cluster !== undefined) close(cluster, Math.min(at, reader.size), state)
  if (state.init.bytes === 0) state.init = { offset: 0, bytes: state.next }
}

interface Cluster {
  offset: number
  /** Timestamp of the cluster, in ticks. */
  start: number
  /** Times of the leading track's blocks in ticks, relative to the start. */
  times: number[]
  keyFrames: KeyFrameRange[]
  samples: number
  unsizedHeader: number | undefined
}

async function readInCluster(
  reader: HeaderReader,
  { id, content, size = 0 }: Element,
  cluster: Cluster,
  state: ScanState,
): Promise<void> {
  if (id === ids.timestamp) cluster.start = unsigned(await reader.bytes(content, size))
  else if (id === ids.simpleBlock) addBlock(await reader.bytes(content, 12), content, size, undefined, cluster, state)
  else if (id === ids.blockGroup) {
    let block: { content: number; size: number } | undefined
    let refers = false
    for (let at = content; at < content + size; ) {
      const inner = await elementAt(reader, at)
      if (inner?.size === undefined) return
      if (inner.id === ids.block) block = { content: inner.content, size: inner.size }
      if (inner.id === ids.referenceBlock) refers = true
      at = inner.content + inner.size
    }
    if (block === undefined) return
    addBlock(await reader.bytes(block.content, 12), block.content, block.size, !refers, cluster, state)
  }
}

/** Reads track number, relative time and flags (RFC 9559, section 10.1). */
function addBlock(
  head: Buffer,
  content: number,
  size: number,
  isKey: boolean | undefined,
  cluster: Cluster,
  { tracks, tick }: ScanState,
): void {
  const number = numberAt(head, 0, true)
  if (number === undefined || head.length < number.length + 3) return
  const relative = head.readInt16BE(number.length)
  const flags = head[number.length + 2] ?? 0
  cluster.samples += 1
  const leading = tracks.find(({ type }) => type === 'video') ?? tracks[0]
  if (leading?.id !== number.value) return
  cluster.times.push(relative)
  if (leading.type !== 'video' || !(isKey ?? (flags & 0x80) !== 0)) return
  const before = number.length + 3
  const time = (cluster.start + relative) * tick
  cluster.keyFrames.push({ time, offset: content + before, bytes: size - before })
}

function close(cluster: Cluster, end: number, state: ScanState): void {
  const { offset, start, times, keyFrames, samples, unsizedHeader } = cluster
  const { tick, fragments, tracks } = state
  const hasPicture = tracks.some(({ type }) => type === 'video')
  const pictures = hasPicture ? times.length : 0
  if (hasPicture) state.pictureTimes?.push(...times.map((relative) => (start + relative) * tick))
  const first = start + Math.min(0, ...times)
  const previous = fragments.at(-1)
  // A cluster lasts until the next cluster starts. The last cluster ends one picture interval after its last picture.
  if (previous !== undefined) previous.duration = first * tick - previous.start
  const sorted = times.toSorted((one, other) => one - other)
  const lastTime = sorted.at(-1) ?? 0
  const apart = sorted.length < 2 ? 0 : (lastTime - (sorted[0] ?? 0)) / (sorted.length - 1)
  const duration = (start + lastTime + apart - first) * tick
  fragments.push({
    offset,
    bytes: end - offset,
    start: first * tick,
    duration,
    keyFrames,
    startsWithKey: keyFrames[0]?.time === first * tick,
    samples,
    pictures,
    unsizedHeader,
  })
  state.next = end
}

function readHeader(id: number, data: Buffer, state: ScanState): void {
  for (const element of elementsOf(data)) {
    if (id === ids.info && element.id === ids.tickNanoseconds) state.tick = unsigned(element.data) / 1e9
    if (element.id !== ids.trackEntry) continue
    const fields = new Map([...elementsOf(element.data)].map((field) => [field.id, field.data]))
    const type = unsigned(fields.get(ids.trackType) ?? Buffer.alloc(0))
    const number = unsigned(fields.get(ids.trackNumber) ?? Buffer.alloc(0))
    const track: FragmentTrack | undefined =
      type === 1 ? { id: number, type: 'video' } : type === 2 ? { id: number, type: 'audio' } : undefined
    if (track !== undefined) state.tracks.push(track)
  }
}

function* elementsOf(data: Buffer): Generator<{ id: number; data: Buffer }> {
  for (const { id, from, to } of elementPlaces(data)) yield { id, data: data.subarray(from, to) }
}

async function wholeOf(reader: HeaderReader, content: number, size: number): Promise<Buffer> {
  if (size > maxHeader) throw new Error('a header of the WebM is too large')
  return await reader.bytes(content, size)
}

async function elementAt(reader: HeaderReader, at: number): Promise<Element | undefined> {
  const header = await reader.bytes(at, headerBytes)
  const id = numberAt(header, 0, false)
  const size = id && numberAt(header, id.length, true)
  if (id === undefined || size === undefined) return undefined
  return { id: id.value, content: at + id.length + size.length, size: isUnknownSize(size) ? undefined : size.value }
}

function unsigned(data: Buffer): number {
  let value = 0
  for (const byte of data) value = value * 256 + byte
  return value
}

/** Position of an element (RFC 8794, section 6) in a buffer. */
export interface ElementPlace {
  id: number
  start: number
  /** Start of the content. */
  from: number
  to: number
}

/** Yields the complete elements between two positions. An element of unknown size extends to the end. */
export function* elementPlaces(data: Buffer, from = 0, to = data.length): Generator<ElementPlace> {
  for (let start = from; start < to; ) {
    const id = numberAt(data, start, false)
    const size = id && numberAt(data, start + id.length, true)
    if (id === undefined || size === undefined) return
    const content = start + id.length + size.length
    const end = isUnknownSize(size) ? to : content + size.value
    if (end > to) return
    yield { id: id.value, start, from: content, to: end }
    start = end
  }
}

/**
 * Parses a variable-size integer (RFC 8794, section 4).
 * @param masked whether to remove the length marker: sizes exclude it, ids include it
 */
export function numberAt(data: Buffer, at: number, masked: boolean): { value: number; length: number } | undefined {
  const first = data[at]
  if (first === undefined || first === 0) return undefined
  const length = Math.clz32(first) - 23
  if (at + length > data.length) return undefined
  let value = masked ? first & (0xff >> length) : first
  for (let position = 1; position < length; position++) value = value * 256 + (data[at + position] ?? 0)
  return { value, length }
}

/** Whether a size is unknown: the element ends at the next element of its level (RFC 8794, section 6.2). */
function isUnknownSize({ value, length }: { value: number; length: number }): boolean {
  return value === 2 ** (7 * length) - 1
}
