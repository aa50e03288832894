import type { ByteRange, FragmentTrack, KeyFrameRange, Scan, ScanState } from './fragments.ts'

/**
 * Maximum size of a box that is read completely, in bytes: a moof of ten minutes without a key frame has about 1 MB.
 */
const maxHeader = 8 * 1024 * 1024
/** `sample_is_non_sync_sample` (ISO/IEC 14496-12, section 8.8.3.1). */
const nonSync = 0x0001_0000

interface Box {
  type: string
  /** Content, without the header. */
  data: Buffer
}

/** Reads the moov and every moof of a fragmented MP4, and skips the media. */
export const scanMp4: Scan = async (reader, state, ended) => {
  let moof: { offset: number; data: Buffer } | undefined
  let at = state.next
  while (at + 8 <= reader.size) {
    const header = await reader.bytes(at, 16)
    const { size, headerBytes } = sizeOf(header, reader.size - at)
    const type = header.toString('latin1', 4, 8)
    if (size < headerBytes) throw new Error('a box of the MP4 has no valid size')
    if (at + size > reader.size) break
    if (type === 'moov') readMovie(await whole(), state)
    else if (type === 'moof') {
      if (state.init.bytes === 0) state.init = { offset: 0, bytes: at }
      moof = { offset: at, data: Buffer.from(await whole()) }
    } else if (type === 'mdat' && moof !== undefined) {
      addFragment(state, moof.offset, at + size - moof.offset, moof.data)
      moof = undefined
    }
    at += size
    // A moof is complete only with its mdat.
    if (moof === undefined) state.next = at

    async function whole(): Promise<Buffer> {
      if (size > maxHeader) throw new Error(`the ${type} box of the MP4 is too large`)
      return (await reader.bytes(at, size)).subarray(headerBytes)
    }
  }
  if (ended && state.init.bytes === 0) state.init = { offset: 0, bytes: state.next }
}

function sizeOf(header: Buffer, left: number): { size: number; headerBytes: number } {
  const size = header.readUInt32BE(0)
  if (size === 1 && header.length >= 16) return { size: Number(header.readBigUInt64BE(8)), headerBytes: 16 }
  return { size: size === 0 ? left : size, headerBytes: 8 }
}

/** Position of a box in a buffer: its header, its content, and its end. */
export interface BoxPlace {
  type: string
  start: number
  from: number
  to: number
}

/** Yields the boxes that are complete within a part of a buffer, in order. */
export function* boxPlaces(data: Buffer, begin = 0, end = data.length): Generator<BoxPlace> {
  let at = begin
  while (at + 8 <= end) {
    const { size, headerBytes } = sizeOf(data.subarray(at, at + 16), end - at)
    if (size < headerBytes || at + size > end) return
    yield { type: data.toString('latin1', at + 4, at + 8), start: at, from: at + headerBytes, to: at + size }
    at += size
  }
}

function* boxesOf(data: Buffer): Generator<Box> {
  for (const { type, from, to } of boxPlaces(data)) yield { type, data: data.subarray(from, to) }
}

function boxOf(data: Buffer, ...path: readonly string[]): Buffer | undefined {
  let found: Buffer | undefined = data
  for (const type of path) found = found && [...boxesOf(found)].find((box) => box.type === type)?.data
  return found
}

function readMovie(movie: Buffer, state: ScanState): void {
  for (const { type, data } of boxesOf(movie)) {
    if (type !== 'trak') continue
    const header = boxOf(data, 'tkhd')
    const media = boxOf(data, 'mdia')
    const mediaHeader = media && boxOf(media, 'mdhd')
    const handler = media && boxOf(media, 'hdlr')?.toString('latin1', 8, 12)
    const entries = media && boxOf(media, 'minf', 'stbl', 'stsd')
    if (header === undefined || mediaHeader === undefined || entries === undefined) continue
    const id = header.readUInt32BE(header[0] === 1 ? 20 : 12)
    state.timescales.set(id, mediaHeader.readUInt32BE(mediaHeader[0] === 1 ? 20 : 12))
    if (handler === 'vide') state.tracks.push({ id, type: 'video', description: pictureConfiguration(entries) })
    else if (handler === 'soun') state.tracks.push({ id, type: 'audio' })
  }
}

/** Returns the avcC or hvcC of the first sample entry. */
function pictureConfiguration(entries: Buffer): FragmentTrack['description'] {
  const [entry] = boxesOf(entries.subarray(8))
  // VisualSampleEntry has 78 bytes before its boxes.
  for (const { type, data } of boxesOf(entry?.data.subarray(78) ?? Buffer.alloc(0)))
    if (type === 'avcC' || type === 'hvcC') return new Uint8Array(data)
  return undefined
}

function addFragment(state: ScanState, offset: number, bytes: number, moof: Buffer): void {
  const pictured = state.tracks.find(({ type }) => type === 'video')
  const runs = [...boxesOf(moof)]
    .filter(({ type }) => type === 'traf')
    .map(({ data }) => readTrackFragment(data, offset, state, pictured?.id))
  const leading = runs.find(({ id }) => id === pictured?.id) ?? runs[0]
  if (leading === undefined) return
  const { start, duration } = leading
  const [keyFrames, startsWithKey] =
    leading.id === pictured?.id ? [leading.keyFrames, leading.startsWithKey] : [[], false]
  const samples = runs.reduce((sum, run) => sum + run.samples, 0)
  const pictures = leading.id === pictured?.id ? leading.samples : 0
  state.fragments.push({ offset, bytes, start, duration, keyFrames, startsWithKey, samples, pictures })
}

interface FragmentHeader {
  id: number
  base: number
  defaults: { duration: number; size: number; flags: number }
}

interface TrackFragment {
  id: number
  start: number
  duration: number
  keyFrames: KeyFrameRange[]
  startsWithKey: boolean
  samples: number
}

/** Reads the header of a track fragment (ISO/IEC 14496-12, section 8.8.7). */
function fragmentHeader(traf: Buffer, moofOffset: number): FragmentHeader {
  const header = boxOf(traf, 'tfhd') ?? Buffer.alloc(8)
  const flags = header.readUInt32BE(0) & 0xff_ffff
  const id = header.readUInt32BE(4)
  let at = 8
  const next = (): number => {
    at += 4
    return header.readUInt32BE(at - 4)
  }
  let base = moofOffset
  if ((flags & 0x1) !== 0) base = next() * 2 ** 32 + next()
  if ((flags & 0x2) !== 0) next()
  const defaults = {
    duration: (flags & 0x8) === 0 ? 0 : next(),
    size: (flags & 0x10) === 0 ? 0 : next(),
    flags: (flags & 0x20) === 0 ? 0 : next(),
  }
  return { id, base, defaults }
}

/**
 * Yields the positions of the samples of a track fragment.
 * @param traf content of the box
 * @param moofOffset position of its moof in the file
 */
export function* samplePlaces(traf: Buffer, moofOffset: number): Generator<ByteRange> {
  const { base, defaults } = fragmentHeader(traf, moofOffset)
  for (const { type, data } of boxesOf(traf)) {
    if (type !== 'trun') continue
    for (const { offset, size } of samplesOf(data, defaults, base)) yield { offset, bytes: size }
  }
}

/** Reads tfhd, tfdt and trun (ISO/IEC 14496-12, sections 8.8.7, 8.8.8 and 8.8.12). */
function readTrackFragment(
  traf: Buffer,
  moofOffset: number,
  { timescales, pictureTimes }: ScanState,
  pictured: number | undefined,
): TrackFragment {
  const { id, base, defaults } = fragmentHeader(traf, moofOffset)
  const timescale = timescales.get(id) ?? 1_000
  const decodeTime = boxOf(traf, 'tfdt')
  const began =
    decodeTime === undefined
      ? 0
      : decodeTime[0] === 1
        ? Number(decodeTime.readBigUInt64BE(4))
        : decodeTime.readUInt32BE(4)
  const found: TrackFragment = {
    ...{ id, start: Number.POSITIVE_INFINITY, duration: 0 },
    ...{ keyFrames: [], startsWithKey: false, samples: 0 },
  }
  let time = began
  let end = began
  for (const { type, data } of boxesOf(traf)) {
    if (type !== 'trun') continue
    for (const sample of samplesOf(data, defaults, base)) {
      const shown = time + sample.shift
      found.start = Math.min(found.start, shown / timescale)
      end = Math.max(end, shown + sample.duration)
      if ((sample.flags & nonSync) === 0) {
        found.startsWithKey ||= found.samples === 0
        found.keyFrames.push({ time: shown / timescale, offset: sample.offset, bytes: sample.size })
      }
      if (id === pictured) pictureTimes?.push(shown / timescale)
      time += sample.duration
      found.samples += 1
    }
  }
  if (found.samples === 0) found.start = began / timescale
  found.duration = end / timescale - found.start
  return found
}

interface Sample {
  offset: number
  size: number
  duration: number
  flags: number
  /** Presentation time minus decode time, in ticks. */
  shift: number
}

function* samplesOf(run: Buffer, defaults: FragmentHeader['defaults'], base: number): Generator<Sample> {
  const flags = run.readUInt32BE(0) & 0xff_ffff
  const count = run.readUInt32BE(4)
  let at = 8
  const has = (flag: number): boolean => (flags & flag) !== 0
  const next = (): number => {
    at += 4
    return run.readUInt32BE(at - 4)
  }
  let offset = base + (has(0x1) ? next() | 0 : 0)
  const firstFlags = has(0x4) ? next() : undefined
  for (let sample = 0; sample < count; sample++) {
    const duration = has(0x100) ? next() : defaults.duration
    const size = has(0x200) ? next() : defaults.size
    const own = has(0x400) ? next() : defaults.flags
    const shift = has(0x800) ? next() | 0 : 0
    yield { offset, size, duration, flags: sample === 0 ? (firstFlags ?? own) : own, shift }
    offset += size
  }
}
